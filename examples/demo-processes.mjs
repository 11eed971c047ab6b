// What the demonstrations share: a lease file in a temporary folder that goes with them, and processes that are started
// in a role and report one thing after the other. The director prints the reports, so they come in its order.
import { fork } from 'node:child_process';
import { on, once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Without arguments the program directs; started again with a role and a name, it plays it. */
export async function perform(direct, roles) {
  const [role, name] = process.argv.slice(2);
  if (role === undefined) return withLeaseFile(direct);
  process.once('disconnect', () => process.exit()); // nobody is left to report to
  await roles[role](name);
  process.disconnect();
}

/** From a role to its director. */
export function report(text, facts = {}) {
  process.send({ text, ...facts });
}

/** In a role: waits for the director. */
export async function cue() {
  await once(process, 'message');
}

const started = [];

export function start(role, name) {
  const child = fork(process.argv[1], [role, name]);
  const reports = on(child, 'message', { close: ['disconnect'] }); // comes after the last report; an exit may not
  const gone = once(child, 'exit');
  started.push({ child, gone });
  return {
    process: child,
    cue: () => child.send('go on'),
    /** Prints what it reports next, and answers the facts. */
    async next() {
      const { value, done } = await reports.next();
      if (done) throw new Error(`${name} ended before it was to`);
      console.log(value[0].text);
      return value[0];
    },
    /** Until it is gone, by itself or because it was killed. */
    gone,
  };
}

async function withLeaseFile(direct) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-demo-'));
  try {
    process.env.HOLDFAST_STORE = `sqlite:${join(folder, 'leases.db')}`;
    await direct();
  } finally {
    for (const { child } of started) child.kill('SIGKILL'); // nothing happens to one that is gone
    await Promise.all(started.map(({ gone }) => gone));
    rmSync(folder, { recursive: true, force: true });
  }
}
