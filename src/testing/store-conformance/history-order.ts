// Linearizability over a recorded history (contract, section 12), with the log as the witness. What a call did stands in the
// log; so the log must keep the order that clients saw (answered before the other was sent), and what changed nothing must
// fit somewhere between: a refusal as held needs a moment, among the rows it can lie between, at which something was in the
// way. A call without an answer has no end: whatever it did may lie anywhere after it was sent.
import { fits } from '../../domain/conflict.js';
import type { AcquireRequest } from '../../domain/requests.js';
import type { CallRecord, History } from './history-records.js';
import { livesOf, rowText, transitionOf, type Transition } from './history-rows.js';
import { Standing } from './history-standing.js';

/** A call that was answered and the row it wrote. */
interface Effect {
  readonly sent: number;
  readonly received: number;
  readonly row: number;
}
interface Refused {
  readonly request: AcquireRequest;
  readonly client: string;
  readonly now: number;
  /** After this many rows at the earliest, and before this one at the latest. */
  readonly from: number;
  readonly to: number;
}

export function checkOrder(history: History): string[] {
  const { log, records } = history;
  const effects = effectsIn(history);
  const bounds = new Bounds(effects);
  const complaints: string[] = [];
  for (const { sent, row } of effects) {
    const before = bounds.lastAnsweredBefore(sent);
    const [early, late] = [log[row], log[before]];
    if (before <= row || !early || !late) continue;
    complaints.push(
      `H1: ${rowText(early, row)} stands before ${rowText(late, before)}, which was answered before it was asked for`,
    );
  }
  return [...complaints, ...unjustified(history, refusalsIn(records, bounds, log.length))];
}

/** What the log holds around a moment of the clients' clock. */
class Bounds {
  readonly #byReceived: readonly Effect[];
  readonly #bySent: readonly Effect[];
  readonly #highest: number[] = [];
  readonly #lowest: number[] = [];

  constructor(effects: readonly Effect[]) {
    this.#byReceived = [...effects].sort((a, b) => a.received - b.received);
    this.#bySent = [...effects].sort((a, b) => a.sent - b.sent);
    let highest = -1;
    for (const { row } of this.#byReceived) this.#highest.push((highest = Math.max(highest, row)));
    let lowest = Infinity;
    for (const { row } of [...this.#bySent].reverse()) this.#lowest.unshift((lowest = Math.min(lowest, row)));
  }

  /** The last row of a call that was answered before this moment, −1 for none. */
  lastAnsweredBefore(sent: number): number {
    const count = countWhile(this.#byReceived, ({ received }) => received < sent);
    return count === 0 ? -1 : (this.#highest[count - 1] ?? -1);
  }

  /** The first row of a call that was sent after this moment. */
  firstSentAfter(received: number, end: number): number {
    const count = countWhile(this.#bySent, ({ sent }) => sent <= received);
    return Math.min(this.#lowest[count] ?? end, end);
  }
}

/** How many at the front are so: all that are so stand at the front. */
function countWhile(sorted: readonly Effect[], isSo: (effect: Effect) => boolean): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const one = sorted[middle];
    if (one && isSo(one)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Answers that say what they changed, matched with their rows by id, kind and store time. `left` does not say whether this
 *  call ended the ticket. */
function effectsIn({ log, records }: History): Effect[] {
  const rows = new Map<string, number | undefined>();
  for (const [i, row] of log.entries()) {
    const change = transitionOf(row);
    if (!change) continue;
    const key = keyOf(change.kind, change.kind === 'upgraded' ? change.ticketId : change.id, row.at);
    rows.set(key, rows.has(key) ? undefined : i); // two of a kind in one millisecond: nobody knows whose is which
  }
  const effects = new Map<number, Effect>();
  for (const record of records) {
    const { sent, received, now } = record;
    if (received === undefined || now === undefined || !isListed(record)) continue;
    for (const [i, result] of (record.answer?.results ?? []).entries()) {
      if ('again' in result && result.again) continue; // another call did it
      const id = record.asked[i]?.id ?? '';
      const row = kindsOf(result.outcome).flatMap((kind) => rows.get(keyOf(kind, id, now)) ?? [])[0];
      if (row === undefined) continue;
      const known = effects.get(row); // asked twice in one millisecond: either call may have been the one
      effects.set(row, {
        row,
        sent: Math.min(sent, known?.sent ?? sent),
        received: Math.max(received, known?.received ?? received),
      });
    }
  }
  return [...effects.values()];
}

type Listed = Extract<CallRecord, { op: 'acquire' | 'renew' | 'end' | 'change' }>;
function isListed(record: CallRecord): record is Listed {
  return record.op === 'acquire' || record.op === 'renew' || record.op === 'end' || record.op === 'change';
}

function kindsOf(outcome: string): readonly Transition['kind'][] {
  if (outcome === 'granted') return ['granted', 'upgraded'];
  if (outcome === 'queued') return ['queued'];
  if (outcome === 'released') return ['leaseEnded'];
  return outcome === 'changed' || outcome === 'renewed' ? ['changed'] : [];
}

function keyOf(kind: string, id: string, at: number): string {
  return `${kind} ${id} ${at}`;
}

/** Refusals as held that joined nothing: they changed nothing and say what they saw. */
function refusalsIn(records: readonly CallRecord[], bounds: Bounds, end: number): Refused[] {
  const refusals: Refused[] = [];
  for (const record of records) {
    const { client, sent, received, now } = record;
    if (record.op !== 'acquire' || received === undefined || now === undefined) continue;
    // In a batch an item sees what its neighbours did, whose rows carry the same moment: it is no witness of its own.
    if (record.asked.length > 1) continue;
    for (const [i, result] of (record.answer?.results ?? []).entries()) {
      const request = record.asked[i];
      if (!request || request.reclaim || result.outcome !== 'refused' || result.refusal.reason !== 'held') continue;
      const from = bounds.lastAnsweredBefore(sent) + 1;
      refusals.push({ request, client, now, from, to: bounds.firstSentAfter(received, end) });
    }
  }
  return refusals.sort((a, b) => a.from - b.from);
}

function unjustified(history: History, refusals: readonly Refused[]): string[] {
  const { log } = history;
  const standing = new Standing(livesOf(history));
  const complaints: string[] = [];
  let open: Refused[] = [];
  let next = 0;
  for (let seen = 0; seen <= log.length; seen += 1) {
    for (let one = refusals[next]; one && one.from <= seen; one = refusals[next]) {
      open.push(one);
      next += 1;
    }
    open = open.filter((refused) => {
      if (isInTheWay(standing, refused)) return false;
      if (seen < refused.to) return true;
      complaints.push(complaintOf(refused));
      return false;
    });
    const row = log[seen];
    if (row) standing.apply(row, seen);
  }
  return complaints;
}

function isInTheWay(standing: Standing, { request, now }: Refused): boolean {
  const others = standing.leases(request.parts, now).filter(({ id }) => id !== request.upgrades?.id);
  return !fits(request.parts, others);
}

function complaintOf({ request, client, now, from, to }: Refused): string {
  const names = request.parts.map(({ name }) => name).join(', ');
  return (
    `S1: ${client} was refused ${names} as held (${request.id}, at ${now}), and nothing was in the way at any moment it can lie at,` +
    ` from row ${from} to row ${to}`
  );
}
