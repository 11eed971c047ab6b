// Recovery mode over a store that does not answer: whoever recovers goes on (N3), and the mode ends with its overlay (V5).
import { expect, test } from 'vitest';
import { streamStage, TTL_MS } from '../../../test/support/stream-stage.js';

const stage = streamStage();
const OVERLAY = 'cascade/namespace:default';

async function expireTwelve(): Promise<void> {
  for (let i = 0; i < 12; i += 1) await stage.lease(`op-${i}`);
  await stage.clock.advance(TTL_MS);
}
async function lifeOf(operationId: string): Promise<number> {
  const lease = await stage.meanwhile(stage.stream.lease({ operationId, kind: 'order', ttl: '60s' }), 10_000);
  await lease.commit(operationId);
  return Date.parse(lease.expiresAt) - Date.parse(lease.leasedAt);
}

test.each([
  ['time', 'loseRequest'],
  ['acquire', 'loseRequest'],
  ['acquire', 'loseReply'],
] as const)('N3, S15: a %s that is never answered (%s) while it is entered stops nobody', async (calls, fault) => {
  await expireTwelve();
  stage.store.order({ calls, fault });
  await stage.meanwhile(stage.stream.waitFor(13, { timeout: '1m' }), 60_000);
  await stage.clock.advance(5_000);
  const { holders } = await stage.store.within('_holdfast').show(OVERLAY, 0);
  expect(holders).toEqual([]); // a grant that nobody heard of was ended
});

test('V5, S15: a renewal that is not answered is asked again, and recovery mode goes on and ends as ever', async () => {
  const heard: boolean[] = [];
  stage.stream.recovery.onCascade((on) => heard.push(on));
  await expireTwelve();
  await stage.run();
  stage.store.order({ calls: 'renew', fault: 'loseReply' });
  for (let ms = 0; ms < 40_000; ms += 100) await stage.clock.advance(100);
  expect((await stage.store.within('_holdfast').show(OVERLAY, 0)).holders).toHaveLength(1);
  expect(await lifeOf('meanwhile')).toBe(120_000);
  for (let ms = 0; ms < 300_000; ms += 100) await stage.clock.advance(100);
  expect(heard).toEqual([true, false]);
  expect(await lifeOf('later')).toBe(60_000);
});

test('V5: an overlay that could not be renewed is not taken for one that stands', async () => {
  await expireTwelve();
  await stage.run();
  stage.store.order({ calls: 'renew', fault: 'loseRequest', times: Infinity });
  for (let ms = 0; ms < 60_000; ms += 100) await stage.clock.advance(100);
  expect(await lifeOf('later')).toBe(60_000);
});
