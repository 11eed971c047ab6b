// list: standing leases and tickets in order of (first name, id), a page at a time. A lease with several names is listed
// once, under its first; it is found by any of them.
import type { Database, Statement } from 'better-sqlite3';
import { isLive, isWaiting } from '../../domain/expiry.js';
import { leaseAt, type Lease, type LeaseRow } from '../../domain/lease.js';
import type { ListFilter } from '../../domain/requests.js';
import { rangeBelow } from '../../domain/resource-name.js';
import { decodeRow, LEASE_COLUMNS, type LeaseColumns } from './row-codec.js';

type Page = Statement<unknown[], LeaseColumns>;

export class SqlList {
  readonly #all: Page;
  /** By one of its names: only what lies in that range is looked at. */
  readonly #named: Page;

  constructor(db: Database) {
    const page = (from: string): Page =>
      db
        .prepare<unknown[], LeaseColumns>(
          `SELECT ${LEASE_COLUMNS} FROM ${from} AND name >= @afterName AND (name > @afterName OR id > @afterId)
             AND status < 2 AND expires_at > @now
             AND (@status IS NULL OR status = @status) AND (@owner IS NULL OR owner = @owner)
             AND (@bornBefore IS NULL OR acquired_at <= @bornBefore)
           ORDER BY name, id LIMIT @limit`,
        )
        .raw();
    const isNamed = '(name = @name OR (name >= @below AND name < @above))';
    const inRange = `name >= @name AND name < @end AND ${isNamed}`;
    this.#all = page('journal INDEXED BY journal_by_name WHERE ns = @ns AND state > 0');
    this.#named = page(`journal WHERE state > 0 AND row IN (
      SELECT row FROM journal INDEXED BY journal_by_name WHERE ns = @ns AND state > 0 AND ${inRange}
      UNION SELECT row FROM other_name WHERE ns = @ns AND ${inRange})`);
  }

  page(ns: number, now: number, filter: ListFilter): { items: Lease[]; cursor?: string } {
    const [afterId, afterName] = parseCursor(filter.cursor);
    const name = filter.resource ?? filter.prefix;
    const below = name === undefined || filter.resource !== undefined ? undefined : rangeBelow(name);
    const parameters = {
      now,
      afterId,
      afterName,
      status: filter.status === undefined ? null : filter.status === 'active' ? 1 : 0,
      owner: filter.owner ?? null,
      bornBefore: filter.olderThanMs === undefined ? null : now - filter.olderThanMs,
      limit: filter.limit + 1,
      ns,
    };
    const range = {
      name,
      below: below?.from ?? null,
      above: below?.to ?? null,
      end: below?.to ?? `${name ?? ''}\u0001`,
    };
    const found = name === undefined ? this.#all.all(parameters) : this.#named.all({ ...parameters, ...range });
    const rows = found
      .slice(0, filter.limit)
      .map(decodeRow)
      .filter((row) => isLive(row, now) || isWaiting(row, now));
    const items = rows.map((row) => leaseAt(row, now));
    const last = rows.at(-1);
    return found.length <= filter.limit || !last ? { items } : { items, cursor: cursorOf(last) };
  }
}

function cursorOf(row: LeaseRow): string {
  return `${row.id}:${row.parts[0]?.name ?? ''}`;
}

function parseCursor(cursor: string | undefined): [id: string, name: string] {
  if (cursor === undefined) return ['', ''];
  const cut = cursor.indexOf(':');
  return cut === -1 ? ['', ''] : [cursor.slice(0, cut), cursor.slice(cut + 1)];
}
