// Every mutant applies, and is noticed: three of them in `make test`, all with `make mutants` (MUTANTS=part of a name, or all).
// MUTANTS_REPORT=file keeps what became of each as JSON, for `make prove`.
import { readFile, rm, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ASKED, MUTANTS, type Mutant } from './mutants.js';
import { makeCopy, mutated, tryMutant, whatFailsAnyway, type MutantResult } from './try-mutant.js';

const SHORT = ['deadline from the reply', 'release without epoch', 'gap filled after it was read'];
const asked = process.env['MUTANTS'] ?? '';
const chosen = MUTANTS.filter(({ name }) =>
  asked === '' ? SHORT.includes(name) : asked === 'all' || name.includes(asked),
);

test.each(MUTANTS)('$rule: "$name" applies', async (mutant) => {
  const text = await readFile(mutant.file, 'utf8');
  expect(mutated(text, mutant)).not.toBe(text);
});

test.each([...new Set(MUTANTS.flatMap(({ by }) => by))])(
  '%s runs the sources, which are what is broken',
  async (path) => {
    expect(await readFile(path, 'utf8')).not.toMatch(/startChild\(|\/dist\//);
  },
);

test.each(ASKED)('there is a mutant "%s"', (name) => {
  expect(MUTANTS.some((one) => one.name.startsWith(name))).toBe(true);
});

test('no two mutants have one name', () => {
  expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length);
});

test('a mutant that no longer applies says so', () => {
  const mutant: Mutant = { name: 'gone', rule: 'S1', file: 'x.ts', before: 'a', after: 'b', by: [] };
  expect(() => mutated('banana', mutant)).toThrow('the mutant "gone" stands 3 times in x.ts');
  expect(() => mutated('xyz', mutant)).toThrow('the mutant "gone" stands 0 times in x.ts');
});

test('there is a mutant to try', () => {
  expect(chosen.length, `no mutant has ${JSON.stringify(asked)} in its name`).toBeGreaterThan(0);
});

describe('in a copy', () => {
  let copy: string;
  const results: MutantResult[] = [];
  const report = process.env['MUTANTS_REPORT'];
  beforeAll(async () => {
    copy = await makeCopy();
  });
  afterAll(async () => {
    if (report) await writeFile(report, JSON.stringify({ part: 'mutants', of: MUTANTS.length, results }, null, 2));
    await rm(copy, { recursive: true, force: true });
  });

  // In `make test` the same files are run beside this one.
  test.runIf(asked !== '')('without a mutant the tests that must notice pass', { timeout: 900_000 }, async () => {
    for (const file of new Set(chosen.flatMap(({ by }) => by)))
      expect(await whatFailsAnyway(copy, [file])).toBeUndefined();
  });

  test.each(chosen)('$rule: "$name" is noticed', { timeout: 320_000 }, async (mutant) => {
    const { name, rule, file } = mutant;
    const began = performance.now();
    const noticed = await tryMutant(copy, mutant);
    const seconds = Math.round((performance.now() - began) / 100) / 10;
    results.push({ name, rule, file, caught: noticed !== undefined, seconds, ...noticed });
    expect(noticed, 'it is alive: no test failed').toBeDefined();
    const worlds = noticed?.worlds === undefined ? '' : `, after ${noticed.worlds} worlds`;
    const programs = noticed?.programs === undefined ? '' : `, after ${noticed.programs} programs`;
    process.stdout.write(`${rule} ${name}: ${noticed?.test}${worlds}${programs}, ${seconds} s\n`);
  });

  test('what changes nothing is not noticed', async () => {
    const harmless: Mutant = {
      name: 'harmless',
      rule: 'S4',
      file: 'src/domain/expiry.ts',
      before: 'now + ttlMs > end',
      after: 'ttlMs + now > end',
      by: ['src/domain/expiry.test.ts'],
    };
    expect(await tryMutant(copy, harmless)).toBeUndefined();
  });
});
