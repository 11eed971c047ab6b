// The page of benchmarks says what bench/results.json says, and the program that makes both answers wrong orders with what there is.
// A figure that was typed by hand, a plot of another run and a short run in the document are what this keeps out.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';

interface Run {
  suite: string;
  command: string;
  isShort?: boolean;
}
interface Row {
  store: string;
  ratio: number | string;
  run?: Run;
}
interface DocumentModule {
  withResults: (text: string, rows: readonly Row[]) => string;
}

const path = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const { withResults } = (await import(path('bench/document.mjs'))) as DocumentModule;
const page = readFileSync(path('docs/benchmarks.md'), 'utf8');
const rows = JSON.parse(readFileSync(path('bench/results.json'), 'utf8')) as Row[];

function node(args: readonly string[], env: NodeJS.ProcessEnv = {}) {
  return spawnSync(process.execPath, args, { encoding: 'utf8', env: { ...process.env, ...env } });
}

describe('docs/benchmarks.md', () => {
  test('it and its plots say what bench/results.json says', () => {
    const { status, stderr } = node([path('bench/plot.mjs'), '--check']);
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  });

  test('another figure in the results is another page', () => {
    const [first, ...rest] = rows;
    const changed = [{ ...first!, ratio: 123.4 }, ...rest];
    expect(withResults(page, changed)).not.toBe(page);
    expect(withResults(page, rows)).toBe(page);
  });

  test('a short run is refused', () => {
    const short = rows.map((row, i) => (i === 0 ? { ...row, run: { ...row.run!, isShort: true } } : row));
    expect(() => withResults(page, short)).toThrow(/was a short run/);
  });

  test('every suite says its command, its machine and its versions', () => {
    for (const { run } of rows)
      expect(run).toMatchObject({
        command: expect.stringMatching(/^make bench ONLY=[a-z]+$/) as string,
        machine: expect.stringMatching(/cores/) as string,
        commit: expect.any(String) as string,
        date: expect.stringMatching(/^\d{4}-\d{2}-\d{2}T/) as string,
        versions: expect.any(Object) as object,
      });
  });
});

describe('bench/run.mjs', () => {
  const run = path('bench/run.mjs');

  test('--help says what there is and runs nothing', () => {
    const { status, stdout } = node([run, '--help']);
    expect(status).toBe(0);
    expect(stdout).toMatch(/public .*\n *sqlite /);
  });

  test('an unknown suite or argument is refused with what there is', () => {
    for (const { status, stderr } of [node([run], { ONLY: 'sqlite,nothing' }), node([run, 'sqlite'])]) {
      expect(status).toBe(64);
      expect(stderr).toMatch(/(no such suite: nothing|unknown argument: sqlite)[\s\S]*public [\s\S]*server /);
    }
  });

  test('a server that is not installed is named with its package', () => {
    const { status, stderr } = node([run], { ONLY: 'public', PATH: '/nowhere' });
    expect(status).toBe(69);
    expect(stderr).toMatch(/etcd was not found: install it \(Debian, Ubuntu: apt-get install etcd-server\)/);
  });
});
