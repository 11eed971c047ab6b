// Each rule that is built has a test, each tag in a test is a rule; and the check can fail.

import { expect, test } from 'vitest';
import { tagProblems, tagsOf, testsIn } from './contract-tags.js';
import { readText, readTree } from './tree.js';

const contract = [
  '- **S1 One holder.** Text.',
  '- **S2.** Epochs rise.',
  '- **Q1 (later)** Queues.',
  '- S9 is no rule.',
].join('\n');
const problems = (...sources: string[]) =>
  tagProblems(contract, new Map(sources.map((source, index) => [`src/x${index}.test.ts`, source])));

test('every rule that is built is named by a test, and no test names a rule that is not there', () => {
  const tests = testsIn(new Map([...readTree('src'), ...readTree('test')]));
  expect(tagProblems(readText('docs/contract.md') ?? '', tests)).toEqual([]);
});

test('tags are read from the lines of the contract', () => {
  expect(tagsOf(contract)).toEqual({ built: new Set(['S1', 'S2']), later: new Set(['Q1']) });
  expect(tagsOf('- **S3** (later) x\n- **S4: (later)** y\n- **S5 later** z')).toEqual({
    built: new Set(['S5']),
    later: new Set(['S3', 'S4']),
  });
});

test('a rule without a test is a problem; one marked later is not', () => {
  expect(problems(`test('S1: one holder', f);`, `test(\`\${name}: S2\`, f);`)).toEqual([]);
  expect(problems(`test('S1: one holder', f);`)).toEqual(['S2: built, but no test names it']);
  expect(problems(`test('S1 and S2', f);`, `test('Q1', f);`)).toEqual([]);
});

test('a comment, a longer word and a hyphenated one do not count as a name', () => {
  expect(problems(`// S1\ntest('S2', f);`)).toHaveLength(1);
  expect(problems(`test('S10x S1a xS1 S1-b', f); test('S2', f);`)).toHaveLength(1);
});

test('a tag the contract does not have is a problem', () => {
  expect(problems(`test('S1 S2 S7', f);`)).toEqual(['src/x0.test.ts: names S7, which docs/contract.md does not have']);
  expect(problems(`test('S1 S2 on A1', f);`)).toEqual([]);
});

test('a contract without rules is a problem', () => {
  expect(tagProblems('', new Map())).toHaveLength(1);
});

test('tests are the files beside the source, the suite, and test/ without the tidy checks', () => {
  const files = ['src/a.test.ts', 'src/a.ts', 'src/testing/b.ts', 'test/stores/c.test.ts', 'test/tidy/d.test.ts'];
  expect([...testsIn(new Map(files.map((path) => [path, '']))).keys()]).toEqual([
    'src/a.test.ts',
    'src/testing/b.ts',
    'test/stores/c.test.ts',
  ]);
});
