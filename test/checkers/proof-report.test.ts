// The report of `make prove` out of the results of its parts: what failed, what did not run and what left no report is said.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const script = fileURLToPath(new URL('../../scripts/proof-report.mjs', import.meta.url));

/** Plain JavaScript, so it is asked as a process. */
function report(parts: readonly object[]): { text: string; isProven: boolean } {
  const results = { machine: { commit: 'abc1234', Node: 'v20' }, command: 'make prove', isShort: false, parts };
  const program = `import { proofText, isProven } from ${JSON.stringify(script)};
    const results = ${JSON.stringify(results)};
    process.stdout.write(JSON.stringify({ text: proofText(results), isProven: isProven(results.parts) }));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as { text: string; isProven: boolean };
}

const fine = {
  tests: { passed: 3, failed: 0, skipped: 0 },
  exit: 0,
  seconds: 9,
  needsReport: true,
  titles: [],
  failures: [],
};
const caught = {
  name: 'release without epoch',
  rule: 'S5',
  file: 'x.ts',
  caught: true,
  test: 'a.test.ts > S5 (SEED=4)',
  seconds: 2,
};
const parts = {
  histories: {
    ...fine,
    name: 'histories',
    command: 'h',
    report: [{ store: 'Redis', operations: 700, open: 30, groups: 5, states: 690, verdict: 'linearizable' }],
  },
  simulation: {
    ...fine,
    name: 'simulation',
    command: 's',
    commit: 'older12',
    report: { part: 'simulation', worlds: 20_000, streamWorlds: 1_250, findings: [] },
  },
  mutants: {
    ...fine,
    name: 'mutants',
    command: 'm',
    report: { of: 34, results: [caught, { ...caught, name: 'deadline from the reply', worlds: 12, test: 'sim' }] },
  },
  faults: {
    ...fine,
    name: 'faults',
    command: 'f',
    report: [
      {
        store: 'sqlite',
        seed: 5,
        seconds: 60,
        misfortunes: { kill: 3, stop: 2 },
        leftOut: [],
        grants: 9,
        increments: { confirmed: 8, unknownLanded: 1 },
        lost: 0,
        lostUnguarded: 4,
        complaints: [],
      },
    ],
  },
};

test('what ran and what it found is there, with what is not proven', () => {
  const { text, isProven } = report(Object.values(parts));
  expect(isProven).toBe(true);
  expect(text).toContain('Every part passed.');
  expect(text).toContain('| commit | abc1234 |');
  expect(text).toContain('| simulation | `s` | older12 |'); // kept from a run before
  expect(text).toContain('| Redis | 700 | 30 | 5 | 690 | linearizable |');
  expect(text).toContain('| stream worlds | 1250 |');
  expect(text).toContain('| S5 | release without epoch | a.test.ts > S5 | 2 s |');
  expect(text).toContain('| S5 | deadline from the reply | sim | world 12, 2 s |');
  expect(text).toContain('| sqlite | 60 | 5 | 9 | 9 | 0 | 4 | 0 |');
  expect(text).toMatch(/## What is not proven\n\n- Nothing is proven for all interleavings/);
});

test('a part that failed, did not run or left no report is no proof', () => {
  const failed = {
    ...parts.histories,
    tests: { passed: 2, failed: 1, skipped: 0 },
    exit: 1,
    failures: [{ title: 'S1: x', message: 'two | hold\nat once' }],
  };
  const missing = { name: 'mutants', command: '', isMissing: true, failures: [], titles: [] };
  const silent = { ...parts.faults, report: undefined };
  const { text, isProven } = report([failed, parts.simulation, missing, silent]);
  expect(isProven).toBe(false);
  expect(text).toContain('**Not proven**: histories, mutants, faults did not pass or did not run.');
  expect(text).toContain('- S1: x: two \\| hold\n');
  expect(text).toContain('## Mutants\n\nIt did not run.');
  expect(text).toContain('FAILED: it left no report');
});

test('a mutant that is alive stands out', () => {
  const alive = { ...parts.mutants, report: { of: 34, results: [{ ...caught, caught: false, test: undefined }] } };
  expect(report([alive]).text).toContain('| S5 | release without epoch | **alive** | 2 s |');
});
