// The history of concurrent clients of one stream, and what must be true of it: no committed operation is missed by a
// reader, nothing a reader saw changes, no operation is stored twice, the watermark never goes back, numbers are dense.
import type { SettledNumber } from '../../../domain/sequence.js';

/** What one client saw, once it was answered. Times are of the machine's monotonic clock, which all processes share. */
export type SequenceRecord =
  | {
      readonly what: 'stored';
      readonly operationId: string;
      /** JSON of the operation. */
      readonly text: string;
      readonly first: number;
    }
  | { readonly what: 'seen'; readonly reader: string; readonly items: readonly Seen[] }
  | { readonly what: 'watermark'; readonly askedAt: number; readonly answeredAt: number; readonly watermark: number };

/** A number as a reader saw it: state, and the JSON of its operation where it has one. */
export type Seen = readonly [number: number, state: string, text: string | null];

export interface SequenceHistory {
  readonly records: readonly SequenceRecord[];
  /** The whole stream after everything was settled. */
  readonly stream: readonly SettledNumber[];
}

const MOST_COMPLAINTS = 20;

export function seenOf({ number, state, operation }: Pick<SettledNumber, 'number' | 'state' | 'operation'>): Seen {
  return [number, state, operation === undefined ? null : JSON.stringify(operation)];
}

/** Sentences, one for each thing that is wrong; at most 20. */
export function checkSequenceHistory({ records, stream }: SequenceHistory): string[] {
  const complaints = [
    ...dense(stream),
    ...storedOnce(stream),
    ...committedThere(records, stream),
    ...readersAgree(records, stream),
    ...watermarkRises(records),
  ];
  return complaints.slice(0, MOST_COMPLAINTS);
}

function* dense(stream: readonly SettledNumber[]): Iterable<string> {
  for (const [i, { number }] of stream.entries())
    if (number !== i + 1) yield `N1: number ${number} stands where ${i + 1} should`;
}

function* storedOnce(stream: readonly SettledNumber[]): Iterable<string> {
  const places = new Map<string, number>();
  for (const { number, state, operationId } of stream) {
    if (state !== 'committed' && state !== 'filled') continue;
    const other = places.get(operationId);
    if (other !== undefined) yield `N1: ${operationId} is stored twice, at ${other} and ${number}`;
    places.set(operationId, number);
  }
}

/** N2, N6: what was answered as stored is there, at that number, as it was. */
function* committedThere(records: readonly SequenceRecord[], stream: readonly SettledNumber[]): Iterable<string> {
  for (const record of records) {
    if (record.what !== 'stored') continue;
    const found = stream[record.first - 1];
    const isThere = found?.operationId === record.operationId && JSON.stringify(found.operation) === record.text;
    if (!isThere) yield `N2: ${record.operationId} was answered as stored at ${record.first} and is not there`;
  }
}

/** N3, N4: a reader sees every number in order, and what it saw stays so. A gap may come to point elsewhere. */
function* readersAgree(records: readonly SequenceRecord[], stream: readonly SettledNumber[]): Iterable<string> {
  const next = new Map<string, number>();
  for (const record of records) {
    if (record.what !== 'seen') continue;
    for (const seen of record.items) {
      const [number] = seen;
      const expected = next.get(record.reader) ?? 1;
      if (number !== expected) yield `N3: ${record.reader} saw ${number} where ${expected} comes next`;
      next.set(record.reader, number + 1);
      const final = stream[number - 1];
      if (!final || JSON.stringify(seenOf(final)) !== JSON.stringify(seen))
        yield `N4: ${record.reader} saw ${JSON.stringify(seen)}, and now it is ${JSON.stringify(final && seenOf(final))}`;
    }
  }
}

/** N3: an answer to a question asked after another answer was there is not lower. */
function* watermarkRises(records: readonly SequenceRecord[]): Iterable<string> {
  const seen = records.flatMap((record) => (record.what === 'watermark' ? [record] : []));
  const byAnswer = seen.toSorted((a, b) => a.answeredAt - b.answeredAt);
  let [at, highest] = [0, 0];
  for (const asked of seen.toSorted((a, b) => a.askedAt - b.askedAt)) {
    for (let known = byAnswer[at]; known && known.answeredAt < asked.askedAt; known = byAnswer[at]) {
      highest = Math.max(highest, known.watermark);
      at += 1;
    }
    if (asked.watermark < highest) yield `N3: the watermark is ${asked.watermark} after it was ${highest}`;
  }
}
