// The figures of the contract, held as they are written there.
import { expect, test } from 'vitest';
import { ID_KEEP_MS, ID_MAX_AGE_MS, LIMITS, PRIORITY_STEP_MS, TICKET_LIFE_MS, TICKET_REFRESH_MS } from './limits.js';

const DAY = 24 * 60 * 60 * 1_000;

test('S18: every limit', () => {
  expect(LIMITS).toMatchObject({
    batchItems: 256,
    batchParts: 1_024,
    rowsPerStep: 1_000,
    ttlMs: 30 * DAY,
    waitMs: DAY,
    partsPerLease: 64,
    ticketsPerNamespace: 10_000,
    metadataBytes: 4_096,
    ownerBytes: 128,
    reasonBytes: 1_024,
    operationBytes: 262_144,
  });
});

test('S14: an auto-renewed lease lives at least 250 ms, a manual one 100 ms', () => {
  expect([LIMITS.minTtlAutoMs, LIMITS.minTtlManualMs]).toEqual([250, 100]);
});

test('a name has up to 512 bytes and 32 segments', () => {
  expect([LIMITS.nameBytes, LIMITS.nameSegments]).toEqual([512, 32]);
});

test('A4: minHold is up to 24 h, lockDelay up to 60 s', () => {
  expect([LIMITS.minHoldMs, LIMITS.lockDelayMs]).toEqual([DAY, 60_000]);
});

test('Q1: a step of priority is worth half a minute, up to 100 either way', () => {
  expect([PRIORITY_STEP_MS, LIMITS.priority]).toEqual([30_000, 100]);
});

test('Q2: a ticket lives 10 s and is refreshed every 3 s, so that two refreshes may be lost', () => {
  expect([TICKET_LIFE_MS, TICKET_REFRESH_MS]).toEqual([10_000, 3_000]);
  expect(3 * TICKET_REFRESH_MS).toBeLessThan(TICKET_LIFE_MS);
});

test('Q3: a freed name wakes at most 64, a refusal names at most 20', () => {
  expect([LIMITS.wakesPerName, LIMITS.holdersInRefusal]).toEqual([64, 20]);
});

test('S8: an ended id is kept for at least 60 s, and longer than an acquire may be on its way', () => {
  expect(ID_KEEP_MS).toBeGreaterThanOrEqual(60_000);
  expect(ID_KEEP_MS).toBeGreaterThanOrEqual(2 * ID_MAX_AGE_MS);
});
