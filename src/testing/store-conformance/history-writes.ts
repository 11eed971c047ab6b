// "Guarded writes never go back" over a recorded list of writes, in the order in which they landed where they were guarded
// (S11): of one resource, no write of an older epoch after one of a newer. And of a counter that every write raises by one:
// each value is the one before plus one, so nothing was lost and nothing was done twice.

export interface GuardedWrite {
  readonly resource: string;
  readonly epoch: number;
  readonly owner: string;
  /** What the counter was after it. */
  readonly value: number;
}

export function checkGuardedWrites(writes: readonly GuardedWrite[]): string[] {
  const newest = new Map<string, GuardedWrite>();
  const complaints: string[] = [];
  for (const [i, write] of writes.entries()) {
    const { resource, epoch, owner, value } = write;
    const before = newest.get(resource);
    const what = `write ${i + 1}, ${owner}'s to ${resource} with epoch ${epoch}`;
    if (before && epoch < before.epoch) {
      complaints.push(`S11: ${what} came after ${before.owner}'s with epoch ${before.epoch}`);
    }
    const expected = (before?.value ?? 0) + 1;
    if (value !== expected) complaints.push(`S11: ${what} made the counter ${value}, and ${expected} comes next`);
    newest.set(resource, before && before.epoch > epoch ? { ...before, value } : write);
  }
  return complaints;
}
