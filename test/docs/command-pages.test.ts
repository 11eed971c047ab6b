// The pages about the command: every command in them is run, and prints what the page shows.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { masked } from '../support/command-site.js';
import { play, stepsOf } from '../support/transcript.js';

const COLUMNS = 100;

/** Figures differ from run to run, and so does whether a span has two digits. */
function plain(text: string): string {
  return masked(text)
    .replaceAll(/n+/g, 'n')
    .replaceAll(/incarnation {2}\S+/g, 'incarnation  NEW')
    .replaceAll(/\d{8}T\d{9}Z/g, 'TIME')
    .replaceAll(/ +/g, ' ');
}

test.each(['command.md', 'at-night.md', 'agents.md'])(
  'C1: every command of docs/guide/%s prints what it shows',
  (page) => {
    const steps = stepsOf(readFileSync(new URL(`../../docs/guide/${page}`, import.meta.url), 'utf8'));
    expect(steps.length).toBeGreaterThan(5);
    const printed = play(steps, COLUMNS);
    const shown = (prints: readonly string[]): string =>
      prints.map((text, i) => `$ ${steps[i]?.command ?? ''}\n${plain(text)}`).join('\n');
    expect(shown(printed)).toBe(shown(steps.map(({ prints }) => prints)));
  },
);

test('every command has its section', () => {
  const page = readFileSync(new URL('../../docs/guide/command.md', import.meta.url), 'utf8');
  const table = readFileSync(new URL('../../src/cli/command-table.ts', import.meta.url), 'utf8');
  const names = [...table.matchAll(/name: '([a-z]+)'/g)].map(([, name]) => name ?? '');
  expect(names.length).toBeGreaterThan(15);
  for (const name of names) expect(page, name).toMatch(new RegExp(`^## .*\\b${name}\\b`, 'm'));
});
