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

test('S7, S15: one that is over is not renewed: it would live on in the store, and nobody would believe in it here', async () => {
  const lease = await stage.lease('op');
  await stage.clock.advance(TTL_MS - 500); // past its deadline, and not over in the store
  expect(lease.isHeld).toBe(false);
  stage.store.forgetCalls();
  await expect(lease.renew('10m')).rejects.toMatchObject({ code: 'LEASE_LOST' });
  expect(stage.store.count('sequence.progress')).toBe(0);
});

test('S7, S15: nor is a renewal believed that is answered when it is over', async () => {
  const lease = await stage.lease('op');
  await stage.clock.advance(TTL_MS - 2_000);
  stage.store.order({ calls: 'sequence.progress', replyMs: 1_500 });
  const renewed = expect(lease.renew('10m')).rejects.toMatchObject({ code: 'LEASE_LOST' });
  await stage.clock.advance(1);
  for (let ms = 0; ms < 2_000; ms += 100) {
    await stage.clock.advance(100);
    lease.remainingMs();
  }
  await renewed;
});
