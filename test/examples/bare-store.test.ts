// The store without a manager, as in the examples: renewed by hand, killed, and taken over by the one in the queue.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { epochIn, Stage } from '../support/stage.js';

let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.clear());

test('Q1, S3: the ticket of the waiter becomes a lease with a higher epoch when the holder is killed', async () => {
  const a = stage.start('bare-store', 'a', 1_500, 60_000);
  const first = await stage.line(/^a holds/);
  const b = stage.start('bare-store', 'b', 1_500, 300);
  await stage.line(/^b waits, place 1/);
  await stage.line(/^a renewed/, stage.lines().length);
  await a.kill();
  const second = await stage.line(/^b holds/);
  expect(epochIn(second)).toBeGreaterThan(epochIn(first));
  expect(await b.ended).toBe(0);
  await stage.line(/^b is done: released/);
});
