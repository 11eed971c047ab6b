// Two runs at once on one machine: each has servers, ports and folders of its own, and both end well.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { isSkipped } from '../support/servers/server-process.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const { VITEST: _vitest, VITEST_POOL_ID: _pool, VITEST_WORKER_ID: _worker, ...env } = process.env;

async function run(): Promise<{ code: unknown; output: string }> {
  const args = ['run', '--project', 'conformance', 'test/stores/linearizable.test.ts', '-t', 'Redis'];
  const child = spawn('node_modules/.bin/vitest', args, { cwd: root, env: { ...env, NO_COLOR: '1' } });
  let output = '';
  child.stdout.on('data', (piece: Buffer) => void (output += piece.toString()));
  child.stderr.on('data', (piece: Buffer) => void (output += piece.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

test.skipIf(isSkipped('redis'))('two runs of the same tests at once do not disturb each other', async () => {
  const runs = await Promise.all([run(), run()]);
  for (const { code, output } of runs) expect(code, output).toBe(0);
  for (const { output } of runs) expect(output).toMatch(/Tests {2}1 passed/);
});
