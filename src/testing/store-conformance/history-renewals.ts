// S4 over a recorded history: a renewal never revives and never shortens. The renewals of a lease are counted, so their
// order is known: each ends no earlier than the one before and was made while that one lasted; and what an answer says
// remains is what lies between its moment and the end it names. Rows of the log say the same where renewals are kept.
import type { CallRecord, History } from './history-records.js';
import { numberIn, rowText } from './history-rows.js';

interface Renewal {
  readonly count: number;
  readonly at: number;
  readonly until: number;
  readonly text: string;
}

export function checkRenewals(history: History): string[] {
  const complaints: string[] = [];
  for (const renewals of [inLog(history), inAnswers(history, complaints)]) {
    for (const [id, list] of renewals) complaints.push(...checkOne(id, list));
  }
  return complaints;
}

/** By id; the grant is number 0. */
type Renewals = Map<string, Renewal[]>;

function add(renewals: Renewals, id: string, one: Renewal): void {
  const list = renewals.get(id);
  if (list) list.push(one);
  else renewals.set(id, [one]);
}

function inLog({ log }: History): Renewals {
  const renewals: Renewals = new Map();
  for (const [i, row] of log.entries()) {
    if (row.type !== 'lease.acquired' && row.type !== 'lease.renewed') continue;
    const count = row.type === 'lease.acquired' ? 0 : (numberIn(row, 'renewals') ?? 0);
    const until = numberIn(row, 'expiresAt') ?? 0;
    add(renewals, row.leaseId ?? '', { count, at: row.at, until, text: rowText(row, i) });
  }
  return renewals;
}

function inAnswers({ records }: History, complaints: string[]): Renewals {
  const renewals: Renewals = new Map();
  for (const record of records) {
    for (const one of renewalsIn(record)) {
      add(renewals, one.id, one);
      if (one.at + one.remainingMs === one.until) continue;
      complaints.push(`S4: ${one.text} with ${one.remainingMs} ms left at ${one.at}, which is not until ${one.until}`);
    }
  }
  return renewals;
}

function renewalsIn(record: CallRecord): (Renewal & { readonly id: string; readonly remainingMs: number })[] {
  const { now: at, client } = record;
  if (at === undefined || record.answer === undefined) return [];
  if (record.op === 'renew') {
    return record.answer.results.flatMap((result, i) => {
      if (result.outcome !== 'renewed') return [];
      const { expiresAt: until, remainingMs, renewals: count } = result;
      const id = record.asked[i]?.id ?? '';
      return { id, count, at, until, remainingMs, text: `${client} was told that ${id} is renewed until ${until}` };
    });
  }
  if (record.op !== 'acquire') return [];
  return record.answer.results.flatMap((result) => {
    if (result.outcome !== 'granted' || result.again || result.lease.renewals > 0) return [];
    const { id, expiresAt: until } = result.lease;
    const { remainingMs } = result;
    return { id, count: 0, at, until, remainingMs, text: `${client} was told that ${id} is granted until ${until}` };
  });
}

function checkOne(id: string, list: readonly Renewal[]): string[] {
  const complaints: string[] = [];
  const sorted = list.toSorted((a, b) => a.count - b.count || a.at - b.at);
  for (const [i, one] of sorted.entries()) {
    const before = sorted[i - 1];
    if (!before || before.count === one.count) continue; // asked again: the same renewal
    if (one.until < before.until) complaints.push(`S4: ${one.text}, and was until ${before.until} before`);
    if (one.count === before.count + 1 && one.at >= before.until) {
      complaints.push(`S4: ${one.text} at ${one.at}, when ${id} had been over since ${before.until}`);
    }
  }
  return complaints;
}
