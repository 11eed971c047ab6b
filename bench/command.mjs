// The command as a whole process (C2): `holdfast run x -- true` on SQLite, from its start to its end, against what nobody
// can do without: `flock x true` and an empty `node -e ''`, one after the other. Alternating; medians.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { alternate, row } from './measure.mjs';
import { scaled } from './scale.mjs';

const ROUNDS = scaled(41, 3);
const main = fileURLToPath(new URL('../dist/cli/main.js', import.meta.url));

export async function benchCommand(say) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  const env = { ...process.env, HOLDFAST_STORE: `sqlite:${join(folder, 'leases.db')}` };
  const file = join(folder, 'flock');
  try {
    say(`command: holdfast run x -- true, ${ROUNDS} rounds`);
    const [ours, baseline] = await alternate(ROUNDS, [
      () => start(env, process.execPath, main, 'run', 'x', '--', 'true'),
      () => {
        start(env, 'flock', file, 'true');
        start(env, process.execPath, '-e', '');
      },
    ]);
    return [
      row({
        name: 'holdfast run x -- true, SQLite, whole process',
        store: 'command',
        concurrency: 1,
        ours,
        baseline,
        baselineName: "flock x true; node -e ''",
        unit: 'ms',
        ratio: ours / baseline,
        target: 3,
        atMost: true,
      }),
    ];
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function start(env, program, ...args) {
  const { status, error } = spawnSync(program, args, { stdio: 'ignore', env });
  if (status !== 0) throw error ?? new Error(`${program} ${args.join(' ')} ended with ${status}`);
}
