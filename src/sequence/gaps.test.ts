// Filling gaps of several numbers, and asking for it again.
import { expect, test } from 'vitest';
import { streamStage, TTL_MS } from '../../test/support/stream-stage.js';

const stage = streamStage();

/** Numbers 1 and 2 are a gap of operation a. */
async function leaveGap(count: number): Promise<void> {
  await (await stage.stream.lease({ operationId: 'a', kind: 'order', count, ttl: TTL_MS })).release();
}
const fill = (operation: unknown) => stage.stream.gaps.fill(1, 'a', operation);

test.each([
  ['filled', false, 1],
  ['sealed', true, 3],
])('N1, S5: filling a gap of several numbers can be repeated: %s', async (_, isSealed, number) => {
  await leaveGap(2);
  if (isSealed) await stage.stream.read(1, 10);
  for (let time = 1; time <= 3; time += 1) expect(await fill(['x', 'y'])).toEqual({ number });
  await expect(fill(['x', 'z'])).rejects.toMatchObject({ code: 'SEQUENCE_SETTLED' });
  expect((await stage.stream.peek(number, 9)).map(({ operation }) => operation)).toEqual(['x', 'y']);
});

test('N1, S5: a list that is the operation of one number is that when it is repeated, too', async () => {
  await leaveGap(1);
  for (let time = 1; time <= 2; time += 1) expect(await fill(['x', 'y'])).toEqual({ number: 1 });
  expect((await stage.stream.peek(1, 9)).map(({ operation }) => operation)).toEqual([['x', 'y']]);
  await expect(fill(['x'])).rejects.toMatchObject({ code: 'SEQUENCE_SETTLED' });
  await expect(fill([])).rejects.toMatchObject({ code: 'SEQUENCE_SETTLED' });
});
