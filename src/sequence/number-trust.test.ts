// S7 for numbers: answers that overtake each other, as the handle of a stream over the memory store meets them.
import { expect, test } from 'vitest';
import { streamStage, TTL_MS } from '../../test/support/stream-stage.js';

const stage = streamStage();

test('S7: a late answer to an older question does not take a confirmed renewal back', async () => {
  const lease = await stage.lease('op');
  const { signal } = lease;
  stage.store.order({ calls: 'sequence.progress', replyMs: 400 });
  const noted = lease.partial({ step: 1 });
  await stage.clock.advance(1); // it has left
  await stage.clock.advance(50);
  await stage.meanwhile(lease.renew('60s'), 200);
  expect(lease.remainingMs()).toBeGreaterThan(50_000);
  await stage.meanwhile(noted);
  expect(lease.remainingMs()).toBeGreaterThan(50_000);
  await stage.clock.advance(TTL_MS);
  expect([signal.aborted, lease.isHeld]).toEqual([false, true]);
});

test('S7: a renewal that is answered late counts, though a later question was answered before', async () => {
  const lease = await stage.lease('op');
  stage.store.order({ calls: 'sequence.progress', requestMs: 400 });
  const renewed = lease.renew('60s');
  await stage.clock.advance(50);
  await stage.meanwhile(lease.partial({ step: 1 }), 200);
  expect(lease.remainingMs()).toBeLessThan(TTL_MS);
  await stage.meanwhile(renewed);
  expect(lease.remainingMs()).toBeGreaterThan(50_000);
});

test('S4, S7: a renewal for less than is left shortens nothing', async () => {
  const lease = await stage.lease('op');
  const { expiresAt } = lease;
  await lease.renew('1s');
  expect(lease.expiresAt).toBe(expiresAt);
  expect(lease.remainingMs()).toBeGreaterThan(TTL_MS / 2);
});
