// Worlds in which one thing goes wrong and nothing else, so that nobody has an excuse: nothing is lost, everybody is served.
import { describe, test } from 'vitest';
import type { Call, Loses } from './faulty-network.js';
import { CALM, QUIET } from './profile.js';
import { expectFine } from './run-seed.js';

const SEEDS = 30;

/** The first copy of every request gets lost without a word; a repeat arrives. */
function losesFirst(lost: Call): Loses {
  const seen = new Set<unknown>();
  return (call, asked) => {
    if (call !== lost) return false;
    const names = (asked as readonly { id: string; requestId?: string }[]).map(({ id, requestId }) => requestId ?? id);
    const isNew = names.some((name) => !seen.has(name));
    for (const name of names) seen.add(name);
    return isNew;
  };
}

test('A5: where nothing goes wrong no lease is lost', () => expectFine(SEEDS, () => ({ profile: QUIET })));

describe('S14, S15: the first copy of every request gets lost', () => {
  test.each<Call>(['acquire', 'renew', 'end', 'change'])('%s', (call) =>
    expectFine(SEEDS, () => ({ profile: QUIET, loses: losesFirst(call) })),
  );
});

test('Q3: without a single wake-up everybody is served', () =>
  expectFine(SEEDS, () => ({ profile: { ...QUIET, network: { ...CALM, lostWakeShare: 1 }, chaosMs: 30_000 } })));

test('S7: machines that sleep', () =>
  expectFine(SEEDS, () => ({ profile: { ...QUIET, suspensions: 4, chaosMs: 8_000 } })));

test('Q2: processes that stand still for longer than a ticket lives', () =>
  expectFine(SEEDS, () => ({ profile: { ...QUIET, pauses: 4, chaosMs: 30_000 } })));
