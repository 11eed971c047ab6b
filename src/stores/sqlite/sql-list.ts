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

  constructor(db: Database) {
    const byAnyName = `(name = @prefix OR (name >= @below AND name < @above) OR (parts IS NOT NULL AND row IN (
      SELECT row FROM other_name o WHERE o.ns = @ns AND (o.name = @prefix OR (o.name >= @below AND o.name < @above)))))`;
    this.#all = db
      .prepare<unknown[], LeaseColumns>(
        `SELECT ${LEASE_COLUMNS} FROM journal INDEXED BY journal_by_name
         WHERE ns = @ns AND state > 0 AND name >= @afterName AND (name > @afterName OR id > @afterId)
           AND status < 2 AND expires_at > @now
           AND (@status IS NULL OR status = @status) AND (@owner IS NULL OR owner = @owner)
           AND (@bornBefore IS NULL OR acquired_at <= @bornBefore)
           AND (@prefix IS NULL OR ${byAnyName})
         ORDER BY name, id LIMIT @limit`,
      )
      .raw();
  }

  page(ns: number, now: number, filter: ListFilter): { items: Lease[]; cursor?: string } {
    const [afterId, afterName] = parseCursor(filter.cursor);
    const name = filter.resource ?? filter.prefix;
    const below = name === undefined || filter.resource !== undefined ? undefined : rangeBelow(name);
    const found = this.#all.all({
      ns,
      now,
      afterId,
      afterName,
      status: filter.status === undefined ? null : filter.status === 'active' ? 1 : 0,
      owner: filter.owner ?? null,
      bornBefore: filter.olderThanMs === undefined ? null : now - filter.olderThanMs,
      prefix: name ?? null,
      below: below?.from ?? null,
      above: below?.to ?? null,
      limit: filter.limit + 1,
    });
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
