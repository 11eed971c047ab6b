// The semaphore of the examples: never more than three are in, and the place of a killed one is used again.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Stage } from '../support/stage.js';

const OWNERS = ['a', 'b', 'c', 'd', 'e', 'f'] as const;
const JOBS = 3;
let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.clear());

/** Who is in after these lines. One that was killed is out: it uses nothing any more. */
function presentAfter(lines: readonly string[]): string[] {
  const present = new Set<string>();
  for (const line of lines) {
    const [who = '', , what] = line.split(' ');
    if (what === 'in,') present.add(who);
    if (what === 'out,' || what === 'killed') present.delete(who);
  }
  return [...present];
}

test('S1: six processes, a kill in the middle, and never more than three are in', async () => {
  const actors = OWNERS.map((owner) => ({ owner, ...stage.start('semaphore', owner, '1500ms', JOBS, 400) }));
  await stage.until('three who are in', () => presentAfter(stage.lines()).length === 3);
  const [inside] = presentAfter(stage.lines());
  const victim = actors.find(({ owner }) => owner === inside);
  await victim?.kill();
  const others = actors.filter((actor) => actor !== victim);
  expect(await Promise.all(others.map(({ ended }) => ended))).toEqual([0, 0, 0, 0, 0]);

  const counts = stage.lines().map((_, i, lines) => presentAfter(lines.slice(0, i + 1)).length);
  expect(Math.max(...counts)).toBe(3);
  expect(counts.at(-1)).toBe(0);
  expect(stage.lines().filter((line) => line.endsWith(`has done its ${JOBS} jobs`))).toHaveLength(5);
});
