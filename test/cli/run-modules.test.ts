// Start-up loads what `run` uses and nothing else, counted by a hook of the loader.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';

const folder = temporaryFolder();
afterAll(() => folder.remove());
const path = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

function loadedBy(...args: string[]): string[] {
  const env = { ...process.env, HOLDFAST_STORE: `sqlite:${join(folder.path, 'leases.db')}` };
  const hook = ['--import', path('../support/count-modules-child.mjs')];
  const { stderr } = spawnSync(process.execPath, [...hook, path('../../dist/cli/main.js'), ...args], {
    env,
    encoding: 'utf8',
  });
  return stderr.split('\n').flatMap((line) => /^loaded file:.*\/((?:dist|node_modules)\/.*)$/.exec(line)?.[1] ?? []);
}

test('C2: run loads no other command, store or service of others, and no driver but its own', () => {
  const loaded = loadedBy('run', 'x', '--', 'true');
  const files = loaded.flatMap((name) => /^dist\/cli\/([a-z-]+?)(?:-[\w-]{8})?\.js$/.exec(name)?.[1] ?? []);
  expect(files).toEqual(expect.arrayContaining(['main', 'run', 'connect', 'sqlite']));
  const others = ['acquire', 'backup', 'completion', 'config', 'files', 'history', 'ls', 'migrate', 'release', 'renew'];
  const more = ['restore', 'revoke', 'show', 'sweep', 'watch', 'whoami', 'memory', 'metrics', 'start-services'];
  expect(files.filter((name) => [...others, ...more].includes(name))).toEqual([]);
  const packages = new Set(loaded.flatMap((name) => /^node_modules\/([^/]+)/.exec(name)?.[1] ?? []));
  expect([...packages].toSorted()).toEqual(['better-sqlite3', 'commander']);
  expect(loaded.length).toBeLessThanOrEqual(40);
});

test('C2: a slip of the pen is told before the store is loaded', () => {
  for (const args of [
    ['x', 'true'],
    ['x', '--', 'no-such-program'],
    ['x', '--ttl', '1s', '--grace', '1m', '--', 'true'],
  ]) {
    expect(loadedBy('run', ...args).filter((name) => /connect|sqlite/.test(name))).toEqual([]);
  }
});
