// The two tanks of the examples: both or none, in whatever order they are named; a move that a kill cut in half is
// finished by the next holder, and nothing is spilt.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { epochIn, Stage } from '../support/stage.js';

const TERMS = ['1500ms', 3, 60] as const;
let stage: Stage;
const fileOf = (name: string): string => join(stage.folder, `${name}.json`);
const level = (name: string): number => Number(readFileSync(fileOf(name), 'utf8'));
beforeEach(() => {
  stage = new Stage();
  writeFileSync(fileOf('left'), '10');
  writeFileSync(fileOf('right'), '10');
});
afterEach(() => stage.clear());

test('S10: while one of two is taken neither is held by who waits for both', async () => {
  const leases = await stage.connect();
  const right = await leases.acquire('tanks/right');
  const a = stage.start('several-at-once', 'a', stage.folder, 'left', 'right', '1500ms', 1, 10);
  await stage.until('a in the queue', async () => (await leases.show('tanks/left')).queue.length > 0);
  expect((await leases.show('tanks/left')).holders).toEqual([]);
  await right.release();
  expect(await a.ended).toBe(0);
  expect([level('left'), level('right')]).toEqual([9, 11]);
});

test('S10, S3: killed half way: the next holder finishes the move, and the sum stays', async () => {
  const a = stage.start('several-at-once', 'a', stage.folder, 'left', 'right', '1500ms', 3, 60_000);
  const half = await stage.line(/^a is half way/);
  const b = stage.start('several-at-once', 'b', stage.folder, 'left', 'right', ...TERMS);
  const c = stage.start('several-at-once', 'c', stage.folder, 'right', 'left', ...TERMS);
  expect([level('left'), level('right')]).toEqual([9, 10]);
  await a.kill();
  expect(epochIn(await stage.line(/finds a move that was not finished/))).toBeGreaterThan(epochIn(half));
  expect(await Promise.all([b.ended, c.ended])).toEqual([0, 0]);
  expect([level('left'), level('right')]).toEqual([9, 11]); // a's one move; b and c moved three each way
  expect(existsSync(fileOf('note'))).toBe(false);
});
