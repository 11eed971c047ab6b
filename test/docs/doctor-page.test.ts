// docs/guide/doctor.md: its commands are run, and print what it shows; figures, and where a line is broken, differ.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { play, stepsOf } from '../support/transcript.js';

const COLUMNS = 100;

function plain(text: string): string {
  return text
    .replaceAll(/\d+(\.\d+)? (ms|s)\b/g, 'N s')
    .replaceAll(/\b\d{16}\b/g, 'EPOCH')
    .replaceAll(/\s+/g, ' ')
    .trim();
}

test('C9: every command of docs/guide/doctor.md prints what it shows', () => {
  const steps = stepsOf(readFileSync(new URL('../../docs/guide/doctor.md', import.meta.url), 'utf8'));
  expect(steps.length).toBeGreaterThan(4);
  const printed = play(steps, COLUMNS);
  const shown = (prints: readonly string[]): string[] =>
    prints.map((text, i) => `$ ${steps[i]?.command ?? ''} ${plain(text)}`);
  expect(shown(printed)).toEqual(shown(steps.map(({ prints }) => prints)));
});
