// What the simulation has found stays: each case is a small world in which the mistake, put back, shows within these seeds.
import { test } from 'vitest';
import { CALM, QUIET, type Profile } from './profile.js';
import { expectFine } from './run-seed.js';

/** Requests and answers get lost, and the caller never hears of them again. */
const SILENT = { ...CALM, lostRequestShare: 0.2, lostReplyShare: 0.2 };
const SLOW = { ...CALM, delayMs: 8, slowShare: 0.6, slowMs: 1_500 };
const CROWD = { processes: 4, actors: 3, steps: 9 };

interface Case {
  readonly world: Partial<Profile>;
  /** How many worlds of this kind: enough for the mistake to show. */
  readonly seeds: number;
}

test.each<[string, Case]>([
  [
    'S15: a grant whose answer got lost, and that lapsed meanwhile, is asked for anew',
    { world: { network: { ...CALM, lostReplyShare: 0.4 }, chaosMs: 6_000 }, seeds: 10 },
  ],
  [
    'S7: after a sleep the deadline is counted anew, also where that is earlier',
    { world: { ...CROWD, suspensions: 6, theme: 'anything', chaosMs: 12_000 }, seeds: 40 },
  ],
  [
    'O4: settings that changed and cannot be read keep nobody waiting',
    { world: { network: SILENT, settings: 4, chaosMs: 6_000 }, seeds: 10 },
  ],
  [
    'A9: connect does not wait for ever for a store that is silent',
    { world: { network: SILENT, crashes: 3, chaosMs: 6_000 }, seeds: 10 },
  ],
  [
    'S9: a refusal ends what was asked before it and is still under way',
    { world: { ...CROWD, network: SLOW, theme: 'nesting', chaosMs: 8_000 }, seeds: 10 },
  ],
  [
    'S15: an answer, yes or no, counts however late it comes',
    { world: { ...CROWD, network: { ...SLOW, slowMs: 300 }, theme: 'changes', chaosMs: 8_000 }, seeds: 30 },
  ],
  [
    'S9: an end leaves in the end, however long the lane before it hangs',
    { world: { network: { ...SILENT, lostRequestShare: 0.4 }, chaosMs: 6_000 }, seeds: 40 },
  ],
  [
    'A9: a service without an answer does not hold up the shutdown',
    { world: { network: SILENT, servicesShare: 1, chaosMs: 6_000 }, seeds: 10 },
  ],
])('%s', (_sentence, { world, seeds }) => expectFine(seeds, () => ({ profile: { ...QUIET, ...world } })));
