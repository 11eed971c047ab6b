// Reading and pruning the log. A call looks at a bounded stretch of it (S18) and says where it stopped, so a search for
// something rare in a long log is many short calls, none of which keeps the loop (S20).
import type { Database, Statement } from 'better-sqlite3';
import type { LogRow } from '../../domain/events.js';
import { ID_KEEP_MS } from '../../domain/limits.js';
import { timeDigits } from '../../domain/ids.js';
import { formatPosition, parsePosition } from '../../domain/position.js';
import type { EventQuery } from '../../domain/requests.js';
import { rangeBelow } from '../../domain/resource-name.js';
import type { PruneOrder } from '../store.js';
import { decodeLog, LOG_COLUMNS, logKeysEnd, type LogColumns, typeNumber } from './log-codec.js';
import type { FileSpace } from './spaces.js';

const START = '0';
/** How many rows one call may look at when it filters. */
const STRETCH = 10_000;

export type LogAnswer =
  | { readonly outcome: 'rows'; readonly rows: readonly LogRow[]; readonly next: string; readonly more: boolean }
  | { readonly outcome: 'lost'; readonly oldest: string };

type Range = Statement<unknown[], LogColumns>;

export class SqlLog {
  readonly #forward: Range;
  readonly #backward: Range;
  readonly #stretchForward: Statement;
  readonly #stretchBackward: Statement;
  readonly #oldLog: Statement;
  readonly #oldIds: Statement;
  readonly #remove: Statement;

  constructor(db: Database) {
    const isNamed = (name: string): string =>
      `((@resource IS NULL OR ${name} = @resource)
        AND (@prefix IS NULL OR ${name} = @prefix OR (${name} >= @below AND ${name} < @above)))`;
    const filters = `AND (${isNamed('name')} OR (more IS NOT NULL
        AND EXISTS (SELECT 1 FROM json_each(more, '$.resources') WHERE ${isNamed('value')})))
      AND (@lease IS NULL OR lease = @lease) AND (@owner IS NULL OR owner = @owner) AND (@type IS NULL OR type = @type)
      AND (@since IS NULL OR at >= @since) AND (@until IS NULL OR at < @until)`;
    const range = `FROM journal WHERE ns = @ns AND key > @from AND key < @to AND type IS NOT NULL`;
    this.#forward = db
      .prepare<unknown[], LogColumns>(`SELECT ${LOG_COLUMNS} ${range} ${filters} ORDER BY key LIMIT @limit`)
      .raw();
    this.#backward = db
      .prepare<unknown[], LogColumns>(`SELECT ${LOG_COLUMNS} ${range} ${filters} ORDER BY key DESC LIMIT @limit`)
      .raw();
    this.#stretchForward = db.prepare(`SELECT key ${range} ORDER BY key LIMIT 1 OFFSET ${STRETCH - 1}`).pluck();
    this.#stretchBackward = db.prepare(`SELECT key ${range} ORDER BY key DESC LIMIT 1 OFFSET ${STRETCH - 1}`).pluck();
    this.#oldLog = db
      .prepare('SELECT key FROM journal WHERE ns = ? AND key < ? AND type IS NOT NULL ORDER BY key LIMIT ?')
      .pluck();
    this.#oldIds = db
      .prepare(
        `SELECT key FROM journal WHERE ns = ? AND type IS NULL AND (key < ? OR key > ?) AND status > 1
           AND (state = 0 OR max(coalesce(json_extract(more, '$.blockedUntil'), 0),
                                 coalesce(json_extract(more, '$.keepOutUntil'), 0)) <= ?)
           AND ended_at < ? ORDER BY key LIMIT ?`,
      )
      .pluck();
    this.#remove = db.prepare('DELETE FROM journal WHERE ns = ? AND key = ?');
  }

  read(space: FileSpace, incarnation: string, now: number, query: EventQuery): LogAnswer {
    const position = (key: string): string =>
      formatPosition({ store: 'sqlite', namespace: space.name, incarnation, key });
    const asked = query.backward ? query.before : query.after;
    const at = asked === undefined ? undefined : keyOf(asked, space.name, incarnation);
    const isLost = asked !== undefined && (at === undefined || (!query.backward && at < space.prunedThrough));
    if (isLost) return { outcome: 'lost', oldest: position(space.prunedThrough) };
    const end = logKeysEnd(Math.max(now, space.writtenAt));
    const from = query.backward ? START : (at ?? space.prunedThrough);
    const to = query.backward ? (at ?? end) : end;
    const bound = isFiltered(query) ? this.#bound(space.id, from, to, query.backward ?? false) : undefined;
    const parameters = {
      ns: space.id,
      from: query.backward ? (bound === undefined ? from : justBefore(bound)) : from,
      to: query.backward || bound === undefined ? to : justAfter(bound),
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
    const reached = isCut
      ? page.at(-1)?.[0]
      : (bound ?? (isFiltered(query) ? this.#last(space.id, from, to, query) : page.at(-1)?.[0]));
    return { outcome: 'rows', rows, next: position(reached ?? at ?? from), more: isCut || bound !== undefined };
  }

  /** The key a filtered call stops at, when there are more rows than it may look at. */
  #bound(ns: number, from: string, to: string, backward: boolean): string | undefined {
    return (backward ? this.#stretchBackward : this.#stretchForward).get({ ns, from, to }) as string | undefined;
  }

  /** The last row of the range whether it matched or not: where a filtered reader that saw everything goes on. */
  #last(ns: number, from: string, to: string, query: EventQuery): string | undefined {
    const all = {
      ...named({}),
      ns,
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
    const byAge = timeDigits(Math.max(0, now - order.olderThanMs));
    const upTo = order.upTo === undefined ? undefined : (keyOf(order.upTo, space.name, incarnation) ?? START);
    const before = upTo === undefined ? byAge : [byAge, justAfter(upTo)].sort()[0];
    const old = this.#oldLog.all(space.id, before, limit + 1) as string[];
    for (const key of old.slice(0, limit)) this.#remove.run(space.id, key);
    space.prunedThrough = old.slice(0, limit).at(-1) ?? space.prunedThrough;
    const endedBefore = now - Math.max(order.olderThanMs, ID_KEEP_MS);
    const ids = this.#oldIds.all(
      space.id,
      timeDigits(Math.max(0, endedBefore)),
      logKeysEnd(now),
      now,
      endedBefore,
      limit + 1,
    ) as string[];
    for (const key of ids.slice(0, limit)) this.#remove.run(space.id, key);
    return {
      events: Math.min(old.length, limit),
      ids: Math.min(ids.length, limit),
      more: old.length > limit || ids.length > limit,
    };
  }
}

function keyOf(text: string, namespace: string, incarnation: string): string | undefined {
  const position = parsePosition(text);
  const isHere =
    position?.store === 'sqlite' && position.namespace === namespace && position.incarnation === incarnation;
  return isHere ? position.key : undefined;
}

function named({ resource, prefix }: Pick<EventQuery, 'resource' | 'prefix'>): Record<string, string | null> {
  const below = prefix === undefined ? undefined : rangeBelow(prefix);
  return { resource: resource ?? null, prefix: prefix ?? null, below: below?.from ?? null, above: below?.to ?? null };
}

function isFiltered(query: EventQuery): boolean {
  const { resource, prefix, leaseId, owner, type, since, until } = query;
  return [resource, prefix, leaseId, owner, type, since, until].some((one) => one !== undefined);
}

const justAfter = (key: string): string => `${key}!`;
/** A key below `key` and above every other: `~` and digits are the only characters that end a log key. */
const justBefore = (key: string): string =>
  key.slice(0, -1) + String.fromCharCode(key.charCodeAt(key.length - 1) - 1) + '~';
