// Every mutant applies, and is noticed: three of them in `make test`, all with `make mutants` (MUTANTS=part of a name, or all).
import { readFile, rm } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MUTANTS, type Mutant } from './mutants.js';
import { makeCopy, mutated, tryMutant } from './try-mutant.js';

const SHORT = ['deadline from the reply', 'release without epoch', 'gap filled after it was read'];
const asked = process.env['MUTANTS'] ?? '';
const chosen = MUTANTS.filter(({ name }) =>
  asked === '' ? SHORT.includes(name) : asked === 'all' || name.includes(asked),
);

test.each(MUTANTS)('$rule: "$name" applies', async (mutant) => {
  const text = await readFile(mutant.file, 'utf8');
  expect(mutated(text, mutant)).not.toBe(text);
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
  beforeAll(async () => {
    copy = await makeCopy();
  });
  afterAll(() => rm(copy, { recursive: true, force: true }));

  test.each(chosen)('$rule: "$name" is noticed', { timeout: 320_000 }, async (mutant) => {
    const noticed = await tryMutant(copy, mutant);
    expect(noticed, 'it is alive: no test failed').toBeDefined();
    const by = noticed?.worlds === undefined ? noticed?.test : `the simulation, after ${noticed.worlds} worlds`;
    process.stdout.write(`${mutant.rule} ${mutant.name}: ${by}\n`);
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
