// The kinds of worlds, and one world as an order that can be written down: its kind, its seed, and what is to be different
// from what the seed would draw. The same order is the same story, word for word, as long as the code is the same.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sizeOf, type Profile } from './profile.js';
import { runSeed, runSequenceSeed, type SeedResult } from './run-seed.js';

/** `stream`: with a sequence. `served`: through a server, by HTTP. `spool`: results wait in files of a real folder. */
export const KINDS = ['leases', 'stream', 'served', 'served-stream', 'spool'] as const;
export type Kind = (typeof KINDS)[number];

export interface WorldOrder {
  readonly kind: Kind;
  readonly seed: number;
  /** Over what the seed draws. */
  readonly profile?: Partial<Profile>;
}

/** Of so many worlds with leases one is of this kind: the others take longer, most of all through a server. */
const ONE_IN: Readonly<Record<Kind, number>> = { leases: 1, stream: 16, served: 40, 'served-stream': 200, spool: 100 };

/** How many worlds of each kind belong to a run. */
export function share(kind: Kind, count: number): number {
  return Math.ceil(count / ONE_IN[kind]);
}

export async function runOrder(
  { kind, seed, profile = sizeOf(seed) }: WorldOrder,
  isTold = false,
): Promise<SeedResult> {
  if (kind === 'leases') return runSeed(seed, () => ({ profile }), isTold);
  if (kind === 'served') return runSeed(seed, () => ({ profile, isServed: true }), isTold);
  if (kind === 'stream') return runSequenceSeed(seed, () => ({ profile }), isTold);
  if (kind === 'served-stream') return runSequenceSeed(seed, () => ({ profile, isServed: true }), isTold);
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-spools-'));
  let runs = 0;
  const spool = (): string => {
    runs += 1;
    const path = join(folder, String(runs));
    mkdirSync(path);
    return path;
  };
  try {
    return await runSequenceSeed(seed, () => ({ profile, spool: spool() }), isTold);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Infinity has no place in JSON. */
export function orderText(order: WorldOrder): string {
  return JSON.stringify(order, (_key, value: unknown) => (value === Infinity ? 'forever' : value));
}
