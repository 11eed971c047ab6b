// V3 as a table: which steps each load allows, and which of them are skipped for a kind they never helped.
import { expect, test } from 'vitest';
import type { Load } from './load.js';
import { stepsFor, StepRecord, TRIES_KEPT } from './recovery-steps.js';

test.each<[Load, string[]]>([
  ['low', ['own', 'finished', 'partial', 'gap']],
  ['medium', ['partial', 'gap']],
  ['high', ['gap']],
  ['unknown', ['gap']],
])('V3: %s load allows %j', (load, steps) => {
  expect(stepsFor(load, 'k', new StepRecord())).toEqual(steps);
});

test('V3: a step that succeeded in under 10 % of its last 50 tries for a kind is skipped while load is not low', () => {
  const record = new StepRecord();
  for (let i = 0; i < TRIES_KEPT - 1; i += 1) record.note('partial', 'k', i < 4);
  expect(stepsFor('medium', 'k', record)).toEqual(['partial', 'gap']);
  record.note('partial', 'k', false);
  expect(stepsFor('medium', 'k', record)).toEqual(['gap']);
  expect(stepsFor('low', 'k', record)).toContain('partial');
  expect(stepsFor('medium', 'other', record)).toContain('partial');
  for (let i = 0; i < 5; i += 1) record.note('partial', 'k', true);
  expect(stepsFor('medium', 'k', record)).toEqual(['partial', 'gap']);
});
