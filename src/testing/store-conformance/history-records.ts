// What a history is made of: the event log, the answers clients were given, and the table at the end. A record is one
// call with the moments it was sent and answered, as plain JSON, so that it can cross a process as one line of text.
import { LeaseError } from '../../domain/errors.js';
import type { LogRow } from '../../domain/events.js';
import type { Lease } from '../../domain/lease.js';
import type { AcquireRequest, ChangeRequest, EndRequest, RenewRequest, RevokeOrder } from '../../domain/requests.js';
import type { AcquireResult, ChangeResult, EndResult, RenewResult, Reply, Revoked, Store } from '../../stores/store.js';

export interface History {
  /** Every row from the first to the last: nothing pruned, `keep_history` never off. */
  readonly log: readonly LogRow[];
  readonly records: readonly CallRecord[];
  readonly table: Table;
}

/** What `list` shows when all is over. */
export interface Table {
  /** The store clock when it had been read. */
  readonly now: number;
  /** The store clock of a sweep that left nothing to do: what ran out by then is written down. */
  readonly sweptAt?: number | undefined;
  readonly items: readonly Lease[];
}

interface Call {
  readonly client: string;
  /** On a clock that all clients share; `received` is missing when no answer came. */
  readonly sent: number;
  readonly received?: number | undefined;
  /** The store clock of the answer. */
  readonly now?: number | undefined;
  /** The call failed: what it did, if anything, is unknown. */
  readonly error?: string | undefined;
}
interface Of<Op extends string, Asked, Answer> extends Call {
  readonly op: Op;
  readonly asked: Asked;
  readonly answer?: Answer | undefined;
}
type Results<R> = { readonly results: readonly (R | { readonly outcome: 'failed' })[] };

export type CallRecord =
  | Of<'acquire', readonly AcquireRequest[], Results<AcquireResult>>
  | Of<'renew', readonly RenewRequest[], Results<RenewResult>>
  | Of<'end', readonly EndRequest[], Results<EndResult>>
  | Of<'change', readonly ChangeRequest[], Results<ChangeResult>>
  | Of<'revoke', RevokeOrder, Omit<Revoked, keyof Reply>>
  | Of<'failTicket', object, object>
  | Of<'sweep', object, object>;

/** One line of JSON. The holders a refusal names are left out: they are most of the text and nothing is checked by them. */
export function recordLine(record: CallRecord): string {
  return JSON.stringify(record, (key, value: unknown) => {
    if (value instanceof LeaseError) return { code: value.code, message: value.message };
    return key === 'holders' ? [] : value;
  });
}

/** The records in lines of text, in the order they were sent. Lines of several clients may be mixed. */
export function readRecords(lines: Iterable<string>): CallRecord[] {
  const records = [...lines].filter((line) => line.trim() !== '').map(readRecord);
  return records.sort((a, b) => a.sent - b.sent);
}

function readRecord(line: string, i: number, all: readonly string[]): CallRecord {
  try {
    return JSON.parse(line) as CallRecord;
  } catch {
    throw new Error(
      `the history is cut short: record ${i + 1} of ${all.length} is no whole line (${line.slice(0, 60)}…). Nothing was checked: record it again.`,
    );
  }
}

/** What was asked for under each id. The first time counts: the same id with other content is refused (S8). */
export function requestsIn(records: readonly CallRecord[]): Map<string, AcquireRequest> {
  const requests = new Map<string, AcquireRequest>();
  for (const record of records) {
    if (record.op !== 'acquire') continue;
    for (const request of record.asked) if (!requests.has(request.id)) requests.set(request.id, request);
  }
  return requests;
}

const PAGE = 1_000;

/**
 * Log and table of a store that nobody else writes to any more, after a last sweep. What ran out between the sweep and the
 * reading would stand in neither, and renewals need not be in the log to say so: then both are read again.
 */
export async function readHistory(store: Store): Promise<Pick<History, 'log' | 'table'>> {
  await sweepAll(store);
  for (;;) {
    const table = await readTable(store);
    const { ended, now } = await sweepAll(store);
    if (ended === 0) return { log: await readLog(store), table: { ...table, sweptAt: now } };
  }
}

async function sweepAll(store: Store): Promise<{ ended: number; now: number }> {
  let ended = 0;
  for (;;) {
    const swept = await store.sweep({ limit: PAGE });
    ended += swept.leases + swept.tickets;
    if (!swept.more) return { ended, now: swept.now };
  }
}

async function readLog(store: Store): Promise<LogRow[]> {
  const log: LogRow[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await store.events({ after, limit: PAGE });
    if (page.outcome === 'lost') throw new Error('the log has lost its beginning: nothing to check');
    log.push(...page.rows);
    if (!page.more) return log;
    after = page.next;
  }
}

async function readTable(store: Store): Promise<Table> {
  const items: Lease[] = [];
  let cursor: string | undefined;
  for (;;) {
    const page = await store.list({ limit: PAGE, cursor });
    items.push(...page.items);
    if (page.cursor === undefined) return { now: page.now, items };
    cursor = page.cursor;
  }
}
