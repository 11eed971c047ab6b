// Reading and pruning the log. A call looks at a bounded stretch of it (S18) and says where it stopped, so a search for
// something rare in a long log is many short calls, none of which keeps the loop (S20).
import type { Database, Statement } from 'better-sqlite3';
import type { LogRow } from '../../domain/events.js';
import { ID_KEEP_MS } from '../../domain/limits.js';
import { formatPosition, parsePosition } from '../../domain/position.js';
import type { EventQuery } from '../../domain/requests.js';
import { rangeBelow } from '../../domain/resource-name.js';
import type { PruneOrder } from '../store.js';
import { FORGET_EVENT, FORGET_LEASE, LOGGED_AT, LOGGED_OWNER } from './granted-row.js';
import { decodeLog, LOG_COLUMNS, type LogColumns, typeNumber } from './log-codec.js';
import { SPAN } from './schema.js';
import type { FileSpace } from './spaces.js';

/** How many rows one call may look at when it filters. */
const STRETCH = 10_000;

export type LogAnswer =
  | { readonly outcome: 'rows'; readonly rows: readonly LogRow[]; readonly next: string; readonly more: boolean }
  | { readonly outcome: 'lost'; readonly oldest: string };

type Range = Statement<unknown[], LogColumns>;
type OldEvent = [row: number, at: number, isLease: number];
type OldLease = [row: number, id: string, name: string, isEvent: number, isStanding: number];

export class SqlLog {
  readonly #forward: Range;
  readonly #backward: Range;
  readonly #stretchForward: Statement;
  readonly #stretchBackward: Statement;
  readonly #at: Statement;
  readonly #oldest: Statement<unknown[], OldEvent>;
  readonly #oldIds: Statement<unknown[], OldLease>;
  readonly #remove: Statement;
  readonly #forgetEvent: Statement;
  readonly #forgetLease: Statement;
  readonly #removeId: Statement;
  readonly #removeName: Statement;
  readonly #removeNames: Statement;

  constructor(db: Database) {
    // Each by a name of its own: a row may have one of several names that is asked for, and another below the prefix.
    const hasName = (is: (name: string) => string): string =>
      `(${is('name')} OR (more IS NOT NULL AND EXISTS (SELECT 1 FROM json_each(more, '$.resources') WHERE ${is('value')})))`;
    const filters = `AND (@resource IS NULL OR ${hasName((name) => `${name} = @resource`)})
      AND (@prefix IS NULL OR ${hasName((name) => `${name} = @prefix OR (${name} >= @below AND ${name} < @above)`)})
      AND (@lease IS NULL OR id = @lease) AND (@owner IS NULL OR (${LOGGED_OWNER}) = @owner) AND (@type IS NULL OR type = @type)
      AND (@since IS NULL OR ${LOGGED_AT} >= @since) AND (@until IS NULL OR ${LOGGED_AT} < @until)`;
    const range = `FROM journal WHERE row > @from AND row < @to AND type IS NOT NULL`;
    this.#forward = db
      .prepare<unknown[], LogColumns>(`SELECT ${LOG_COLUMNS} ${range} ${filters} ORDER BY row LIMIT @limit`)
      .raw();
    this.#backward = db
      .prepare<unknown[], LogColumns>(`SELECT ${LOG_COLUMNS} ${range} ${filters} ORDER BY row DESC LIMIT @limit`)
      .raw();
    this.#stretchForward = db.prepare(`SELECT row ${range} ORDER BY row LIMIT 1 OFFSET ${STRETCH - 1}`).pluck();
    this.#stretchBackward = db.prepare(`SELECT row ${range} ORDER BY row DESC LIMIT 1 OFFSET ${STRETCH - 1}`).pluck();
    this.#at = db.prepare(`SELECT ${LOGGED_AT} FROM journal WHERE row = ?`).pluck();
    this.#oldest = db
      .prepare<unknown[], OldEvent>(`SELECT row, ${LOGGED_AT}, status IS NOT NULL ${range} ORDER BY row LIMIT @limit`)
      .raw();
    this.#oldIds = db
      .prepare<unknown[], OldLease>(
        `SELECT row, id, name, type IS NOT NULL, state > 0 FROM journal WHERE row > ? AND row < ? AND status > 1 AND ended_at < ?
           AND (state = 0 OR max(coalesce(json_extract(more, '$.blockedUntil'), 0),
                                 coalesce(json_extract(more, '$.keepOutUntil'), 0)) <= ?)
         ORDER BY row LIMIT ?`,
      )
      .raw();
    this.#remove = db.prepare('DELETE FROM journal WHERE row = ?');
    this.#forgetEvent = db.prepare(FORGET_EVENT);
    this.#forgetLease = db.prepare(FORGET_LEASE);
    this.#removeId = db.prepare('DELETE FROM lease_id WHERE ns = ? AND id = ?');
    this.#removeName = db.prepare('DELETE FROM first_name WHERE ns = ? AND name = ? AND row = ?');
    this.#removeNames = db.prepare('DELETE FROM other_name WHERE ns = ? AND row = ?');
  }

  read(space: FileSpace, incarnation: string, query: EventQuery): LogAnswer {
    const [base, end] = [space.id * SPAN, (space.id + 1) * SPAN];
    const position = (row: number): string =>
      formatPosition({ store: 'sqlite', namespace: space.name, incarnation, key: String(row % SPAN) });
    const asked = query.backward ? query.before : query.after;
    const at = asked === undefined ? undefined : rowOf(asked, space, incarnation);
    const oldest = base + space.prunedThrough;
    const isLost = asked !== undefined && (at === undefined || (!query.backward && at < oldest));
    if (isLost) return { outcome: 'lost', oldest: position(oldest) };
    const from = query.backward ? base : (at ?? oldest);
    const to = query.backward ? (at ?? end) : end;
    const bound = isFiltered(query) ? this.#bound(from, to, query.backward ?? false) : undefined;
    const parameters = {
      from: query.backward && bound !== undefined ? bound - 1 : from,
      to: query.backward || bound === undefined ? to : bound + 1,
      ...named(query),
      lease: query.leaseId ?? null,
      owner: query.owner ?? null,
      type: query.type === undefined ? null : typeNumber(query.type),
      since: query.since ?? null,
      until: query.until ?? null,
      limit: query.limit + 1,
    };
    const columns = (query.backward ? this.#backward : this.#forward).all(parameters);
    const page = columns.slice(0, query.limit);
    const rows = page.map((one) => decodeLog(one, space.name, position));
    const isCut = columns.length > query.limit;
    const lastSeen = (): number | undefined => (isFiltered(query) ? this.#last(from, to, query) : page.at(-1)?.[0]);
    const goesOnAt = bound !== undefined && this.#isPast(bound, query) ? undefined : bound;
    const reached = isCut ? page.at(-1)?.[0] : (goesOnAt ?? lastSeen());
    const more = isCut || goesOnAt !== undefined;
    return { outcome: 'rows', rows, next: position(reached ?? at ?? from), more };
  }

  /** The row a filtered call stops at, when there are more rows than it may look at. */
  #bound(from: number, to: number, backward: boolean): number | undefined {
    return (backward ? this.#stretchBackward : this.#stretchForward).get({ from, to }) as number | undefined;
  }

  /** The later event is never the older (S13): behind this one nothing is asked for. */
  #isPast(bound: number, { backward, since }: EventQuery): boolean {
    return backward === true && since !== undefined && (this.#at.get(bound) as number) < since;
  }

  /** The last row of the range whether it matched or not: where a filtered reader that saw everything goes on. */
  #last(from: number, to: number, query: EventQuery): number | undefined {
    const all = {
      ...named({}),
      from,
      to,
      lease: null,
      owner: null,
      type: null,
      since: null,
      until: null,
      limit: 1,
    };
    return (query.backward ? this.#forward : this.#backward).get(all)?.[0];
  }

  /** H4. The caller saves the space afterwards: `prunedThrough` and the counters must outlive the rows. */
  prune(
    space: FileSpace,
    incarnation: string,
    now: number,
    order: PruneOrder,
  ): { events: number; ids: number; more: boolean } {
    const { limit } = order;
    const [base, end] = [space.id * SPAN, (space.id + 1) * SPAN];
    const upTo = order.upTo === undefined ? end : (rowOf(order.upTo, space, incarnation) ?? base);
    const rows = this.#oldest.all({ from: base, to: end, limit: limit + 1 });
    const isOld = ([row, at]: OldEvent): boolean => at < now - order.olderThanMs && row <= upTo;
    const old = rows.filter(isOld);
    for (const [row, , isLease] of old.slice(0, limit)) (isLease ? this.#forgetEvent : this.#remove).run(row);
    const lastGone = old.slice(0, limit).at(-1)?.[0];
    if (lastGone !== undefined) space.prunedThrough = Math.max(space.prunedThrough, lastGone - base);
    const endedBefore = now - Math.max(order.olderThanMs, ID_KEEP_MS);
    const [stays, since] = this.#oldest.get({ from: base, to: end, limit: 1 }) ?? [end, now];
    const bound = since >= endedBefore ? stays : end; // what came after a row of that time cannot have ended before it
    const ids = this.#oldIds.all(base, bound, endedBefore, now, limit + 1);
    for (const [row, id, name, isEvent, isStanding] of ids.slice(0, limit)) {
      (isEvent ? this.#forgetLease : this.#remove).run(row);
      this.#removeId.run(space.id, id);
      this.#removeName.run(space.id, name, row);
      // Only what stood to the last, for its block, has any; to look for them is to look at all there are.
      if (isStanding && space.hasOtherNames) this.#removeNames.run(space.id, row);
    }
    if (ids.length > 0) space.crowds.clear(); // a block that was over may have been among them
    return {
      events: Math.min(old.length, limit),
      ids: Math.min(ids.length, limit),
      more: old.length > limit || ids.length > limit,
    };
  }
}

function rowOf(text: string, space: FileSpace, incarnation: string): number | undefined {
  const position = parsePosition(text);
  const isHere =
    position?.store === 'sqlite' && position.namespace === space.name && position.incarnation === incarnation;
  const number = isHere && /^\d{1,13}$/.test(position.key) ? Number(position.key) : Infinity;
  return number <= space.arrival ? space.id * SPAN + number : undefined;
}

function named({ resource, prefix }: Pick<EventQuery, 'resource' | 'prefix'>): Record<string, string | null> {
  const below = prefix === undefined ? undefined : rangeBelow(prefix);
  return { resource: resource ?? null, prefix: prefix ?? null, below: below?.from ?? null, above: below?.to ?? null };
}

function isFiltered(query: EventQuery): boolean {
  const { resource, prefix, leaseId, owner, type, since, until } = query;
  return [resource, prefix, leaseId, owner, type, since, until].some((one) => one !== undefined);
}
