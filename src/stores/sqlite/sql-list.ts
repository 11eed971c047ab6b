// list: standing leases and tickets in order of (first name, id), a page at a time. A lease with several names is listed
// once, under its first; it is found by any of them. The index gives one page, the tail that is not in it yet another (it is
// short); the page is the first of both.
import type { Database, Statement } from 'better-sqlite3';
import { isLive, isWaiting } from '../../domain/expiry.js';
import { leaseAt, type Lease, type LeaseRow } from '../../domain/lease.js';
import type { ListFilter } from '../../domain/requests.js';
import { compareNames, rangeBelow } from '../../domain/resource-name.js';
import { decodeRow, LEASE_COLUMNS, type LeaseColumns } from './row-codec.js';
import { SPAN } from './schema.js';
import type { FileSpace } from './spaces.js';

type Page = Statement<unknown[], LeaseColumns>;

export class SqlList {
  readonly #all: Page;
  readonly #tail: Page;
  /** By one of its names: only what lies in that range is looked at. */
  readonly #named: Page;
  readonly #below: Page;
  /** By a name of its own each. */
  readonly #namedAndBelow: Page;

  constructor(db: Database) {
    const page = (from: string, name: string): Page =>
      db
        .prepare<unknown[], LeaseColumns>(
          `SELECT ${LEASE_COLUMNS.split(', ')
            .map((column) => `j.${column}`)
            .join(', ')} FROM ${from}
             AND ${name} >= @afterName AND (${name} > @afterName OR j.id > @afterId)
             AND j.status < 2 AND j.expires_at > @now
             AND (@status IS NULL OR j.status = @status) AND (@owner IS NULL OR j.owner = @owner)
             AND (@bornBefore IS NULL OR j.acquired_at <= @bornBefore)
           ORDER BY ${name}, j.id LIMIT @limit`,
        )
        .raw();
    const inTail = 'row > @tailFrom AND row < @tailTo AND state > 0';
    this.#all = page('first_name n CROSS JOIN journal j ON j.row = n.row WHERE n.ns = @ns AND j.state > 0', 'n.name');
    this.#tail = page('journal j WHERE j.row > @tailFrom AND j.row < @tailTo AND j.state > 0', 'j.name');
    const rowsOf = (inRange: string): string =>
      `SELECT row FROM first_name WHERE ns = @ns AND ${inRange}
        UNION SELECT row FROM other_name WHERE ns = @ns AND ${inRange}
        UNION SELECT row FROM journal WHERE ${inTail} AND ${inRange}`;
    const named = rowsOf('name = @resource');
    const below = rowsOf(
      'name >= @prefix AND name < @above AND (name = @prefix OR (name >= @below AND name < @above))',
    );
    const among = (rows: string): Page => page(`journal j WHERE j.state > 0 AND j.row IN (${rows})`, 'j.name');
    this.#named = among(named);
    this.#below = among(below);
    this.#namedAndBelow = among(`SELECT row FROM (${named}) INTERSECT SELECT row FROM (${below})`);
  }

  page({ id: ns, indexedTo }: FileSpace, now: number, filter: ListFilter): { items: Lease[]; cursor?: string } {
    const [afterId, afterName] = parseCursor(filter.cursor);
    const { resource, prefix } = filter;
    const below = prefix === undefined ? undefined : rangeBelow(prefix);
    const parameters = {
      now,
      afterId,
      afterName,
      status: filter.status === undefined ? null : filter.status === 'active' ? 1 : 0,
      owner: filter.owner ?? null,
      bornBefore: filter.olderThanMs === undefined ? null : now - filter.olderThanMs,
      limit: filter.limit + 1,
      ns,
      tailFrom: ns * SPAN + indexedTo,
      tailTo: (ns + 1) * SPAN,
      resource,
      prefix,
      below: below?.from,
      above: below?.to,
    };
    const found = this.#find(filter, parameters);
    const rows = found
      .slice(0, filter.limit)
      .map(decodeRow)
      .filter((row) => isLive(row, now) || isWaiting(row, now));
    const items = rows.map((row) => leaseAt(row, now));
    const last = rows.at(-1);
    return found.length <= filter.limit || !last ? { items } : { items, cursor: cursorOf(last) };
  }

  #find({ resource, prefix }: ListFilter, parameters: object): LeaseColumns[] {
    if (resource !== undefined) return (prefix === undefined ? this.#named : this.#namedAndBelow).all(parameters);
    return prefix === undefined ? this.#page(parameters) : this.#below.all(parameters);
  }

  #page(parameters: object): LeaseColumns[] {
    const indexed = this.#all.all(parameters);
    const tail = this.#tail.all(parameters);
    if (tail.length === 0) return indexed;
    const byNameAndId = (a: LeaseColumns, b: LeaseColumns): number =>
      compareNames(a[1], b[1]) || (a[0] < b[0] ? -1 : 1);
    return [...indexed, ...tail].sort(byNameAndId);
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
