// What became of the counters (pure). Every increment left a record in the same step as the value it wrote, so:
//   what was confirmed has a record; what the guard refused has none; what is unknown has one or none, and the record decides;
//   the values of one counter's records are 1, 2, 3 … up to the counter itself, each once, under epochs that never go back.
// A counter that stands below the number of its records has lost the difference.

export type Outcome = 'open' | 'done' | 'refused' | 'unknown';
export interface Attempt {
  readonly op: string;
  readonly n: number;
  readonly epoch: number;
  /** `open`: it was tried, and nobody said how it ended, for the worker was killed. */
  outcome: Outcome;
}
export interface IncrementRecord {
  readonly op: string;
  readonly n: number;
  readonly epoch: number;
  readonly value: number;
}
export interface Counted {
  readonly records: readonly IncrementRecord[];
  readonly values: ReadonlyMap<number, number>;
}
export interface Verdict {
  readonly confirmed: number;
  readonly refused: number;
  readonly unknownLanded: number;
  readonly unknownNot: number;
  readonly lost: number;
  /** Sentences; none when all is well. */
  readonly complaints: readonly string[];
}

export function judge(attempts: Iterable<Attempt>, { records, values }: Counted): Verdict {
  const complaints: string[] = [];
  const landed = new Map(records.map((record) => [record.op, record]));
  if (landed.size < records.length) complaints.push('an increment has two records');
  const tried = new Set<string>();
  const counts = { confirmed: 0, refused: 0, unknownLanded: 0, unknownNot: 0, lost: 0 };
  for (const { op, outcome, n } of attempts) {
    tried.add(op);
    const hasLanded = landed.has(op);
    if (outcome === 'done') {
      counts.confirmed += 1;
      if (hasLanded) continue;
      counts.lost += 1;
      complaints.push(`${op} on counter ${n} was confirmed and has no record`);
    } else if (outcome === 'refused') {
      counts.refused += 1;
      if (hasLanded) complaints.push(`${op} on counter ${n} was refused and has a record`);
    } else if (hasLanded) counts.unknownLanded += 1;
    else counts.unknownNot += 1;
  }
  for (const { op } of records) if (!tried.has(op)) complaints.push(`nobody tried ${op}, which has a record`);
  for (const n of new Set([...values.keys(), ...records.map((record) => record.n)])) {
    const own = records.filter((record) => record.n === n).sort((a, b) => a.value - b.value || a.epoch - b.epoch);
    const missing = own.length - (values.get(n) ?? 0);
    if (missing !== 0) complaints.push(`counter ${n} is ${values.get(n) ?? 0} after ${own.length} increments`);
    counts.lost += Math.max(0, missing);
    complaints.push(...outOfOrder(n, own));
  }
  return { ...counts, complaints };
}

function outOfOrder(n: number, records: readonly IncrementRecord[]): string[] {
  for (const [i, { op, value, epoch }] of records.entries()) {
    if (value !== i + 1) return [`counter ${n}: ${op} wrote ${value} where ${i + 1} was next`];
    const before = records[i - 1];
    if (before && before.epoch > epoch) {
      return [`counter ${n}: ${op} wrote under epoch ${epoch}, after ${before.op} under epoch ${before.epoch}`];
    }
  }
  return [];
}
