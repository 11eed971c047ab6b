// What obedient child processes share: an order is one line in (ORDER KEY JSON), an answer one line out. Nothing goes
// unseen: a rejection nobody handled, an error nobody caught or a warning of Node is a line too, and the first two end
// the process with a code of their own. When standard input ends, the process lives only by what else keeps it alive.
import { createInterface } from 'node:readline';

const EXIT_UNHANDLED = 70;

/** Milliseconds on the clock that all processes of this machine share. */
export function now() {
  const [seconds, nanos] = process.hrtime();
  return seconds * 1_000 + nanos / 1e6;
}

/** Pipes are written at once: a line is out before the next statement runs. */
export function say(...words) {
  process.stdout.write(`${words.join(' ')}\n`);
}

function sayAndEnd(kind, error) {
  say('unhandled', kind, String(error?.stack ?? error).replaceAll('\n', ' | '));
  process.exit(EXIT_UNHANDLED);
}
process.on('unhandledRejection', (error) => sayAndEnd('rejection', error));
process.on('uncaughtException', (error) => sayAndEnd('exception', error));
process.on('warning', (warning) => say('warning', warning.name, warning.message));

/** An order that fails is answered `failed KEY CODE DETAILS`. */
export function obey(orders) {
  createInterface({ input: process.stdin }).on('line', (line) => {
    const [order, key = '', ...rest] = line.split(' ');
    const json = rest.join(' ');
    orders[order](key, json === '' ? {} : JSON.parse(json)).catch((error) => {
      if (error?.name !== 'LeaseError') sayAndEnd('rejection', error);
      say('failed', key, error.code, JSON.stringify(error.details ?? {}));
    });
  });
}
