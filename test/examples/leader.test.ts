// The leader of the examples: one leads at a time; a killed leader is followed when its lease has run out, one that steps
// down at once.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { epochIn, Stage } from '../support/stage.js';

const TTL = '2s';
const BEAT_MS = 20;
let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.clear());

test('A2, Q1: the next leads with a higher epoch, after a kill and after stepping down', async () => {
  const a = stage.start('leader', 'a', TTL, BEAT_MS);
  const first = await stage.line(/^a leads/);
  const others = { b: stage.start('leader', 'b', TTL, BEAT_MS), c: stage.start('leader', 'c', TTL, BEAT_MS) };
  await Promise.all([stage.line(/^b is a candidate/), stage.line(/^c is a candidate/)]);
  await stage.line(/^a at work/, stage.lines().length);
  await a.kill();

  const second = await stage.line(/^([bc]) leads/);
  expect(epochIn(second)).toBeGreaterThan(epochIn(first));
  const leader = second[1] as 'b' | 'c';
  const last = leader === 'b' ? 'c' : 'b';
  await stage.line(new RegExp(`^${leader} at work`));
  others[leader].process.kill('SIGTERM');
  expect(await others[leader].ended).toBe(0);
  const third = await stage.line(new RegExp(`^${last} leads`));
  expect(epochIn(third)).toBeGreaterThan(epochIn(second));
  others[last].process.kill('SIGTERM');
  expect(await others[last].ended).toBe(0);

  const order = stage.lines().filter((line) => /epoch \d+$/.test(line));
  const epochs = order.map((line) => Number(/\d+$/.exec(line)?.[0]));
  expect(epochs).toEqual(epochs.toSorted((one, two) => one - two)); // nobody works after the next one leads
  const told = stage.lines().filter((line) => !line.includes('at work') && !line.includes('candidate'));
  expect(told.map((line) => line.replace(/, epoch.*/, ''))).toEqual([
    'a leads',
    'a was killed',
    `${leader} leads`,
    `${leader} steps down`,
    `${last} leads`,
    `${last} steps down`,
  ]);
});
