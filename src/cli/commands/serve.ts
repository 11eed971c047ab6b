// holdfast serve (C10, W1): leases over HTTP, from the store of this user or any other, until it is told to end. The address
// goes to standard output when it listens, the log to standard error. The first signal drains, the second ends at once.
import { Option, type Command } from 'commander';
import type { ServeOptions } from '../../server/index.js';
import type { Context } from '../context.js';
import { EXIT, usage } from '../exit-codes.js';
import { examples } from '../help.js';
import type { Level } from '../json-log.js';
import { wholeNumber } from '../lease-options.js';

interface Flags {
  readonly host?: string;
  readonly port?: number;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly toy?: boolean;
  readonly drain?: string;
  readonly log: Level;
}

export function define(command: Command, context: Context): void {
  command
    .option('--host <address>', 'where to listen, 127.0.0.1 if not given')
    .option('--port <n>', 'on which port, 7420 if not given; 0 takes one that is free', wholeNumber)
    .option('--tls-cert <file>', 'PEM file with the certificate and its chain: https')
    .option('--tls-key <file>', 'PEM file with its key')
    .option('--drain <duration>', 'what is under way may take this long at the end, 10s if not given')
    .option('--toy', 'allow --store memory:, which forgets everything at the end')
    .addOption(new Option('--log <level>', 'what to log').choices(['debug', 'info', 'warn', 'error']).default('info'))
    .action((flags: Flags) => run(context, flags));
  examples(command, [
    ['holdfast serve', "this user's store, on http://127.0.0.1:7420"],
    ['holdfast serve --host 0.0.0.0 --tls-cert cert.pem --tls-key key.pem', 'for other machines, with tokens'],
    ['holdfast token create ci --role write', 'a token, without which only this machine is answered'],
  ]);
}

async function run(context: Context, flags: Flags): Promise<void> {
  const url = await context.serverStore();
  const { serve } = await import('../../server/index.js');
  const { JsonLog } = await import('../json-log.js');
  const log = new JsonLog(context.clock, flags.log, (text) => void process.stderr.write(text));
  const told = untilTold();
  const server = await serve(optionsOf(context, flags, url, log));
  const { withoutSecrets } = await import('../../stores/open-store.js');
  const shown = { url: server.url, store: withoutSecrets(url), namespace: context.namespace().value };
  if (context.isJson) context.output.json(shown);
  else context.output.line(`listening on ${shown.url} (store ${shown.store}, namespace ${shown.namespace})`);
  await Promise.race([told, server.ready.then(() => told)]); // a store that can never be served ends it too
  await server.stop();
  log.flush();
}

function optionsOf(context: Context, flags: Flags, store: string, logger: object): ServeOptions {
  const { host, port, tlsCert: cert, tlsKey: key, toy, drain } = flags;
  if ((cert === undefined) !== (key === undefined)) throw usage('--tls-cert and --tls-key are given together');
  const { HOLDFAST_WEBHOOK_SECRET: webhookSecret } = process.env;
  return {
    ...{ store, namespace: context.namespace().value, clock: context.clock, logger, version: context.version() },
    ...(host === undefined ? {} : { host }),
    ...(port === undefined ? {} : { port }),
    ...(cert === undefined || key === undefined ? {} : { tls: { cert, key } }),
    ...(toy === undefined ? {} : { toy }),
    ...(drain === undefined ? {} : { drain }),
    ...(webhookSecret === undefined || webhookSecret === '' ? {} : { webhookSecret }),
  };
}

/** Listened for before anybody can know the address. The second signal need not be the same as the first. */
function untilTold(): Promise<void> {
  return new Promise<void>((resolve) => {
    let isTold = false;
    const tell = (): void => {
      if (isTold) process.exit(EXIT.unreachable);
      isTold = true;
      resolve();
    };
    for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, tell);
  });
}
