// The protocol's rows in SQLite, for one namespace. Reads ask the indexes and the tail that is not in them yet; writes go
// through as they are made, inside the transaction of the step. The names of subtrees, and all names of a lease but its
// first, are in `other_name` for as long as it stands; while that is empty, one look-up by name says all.
import { isLive } from '../../domain/expiry.js';
import type { LeaseRow } from '../../domain/lease.js';
import { LIMITS } from '../../domain/limits.js';
import type { Part } from '../../domain/part.js';
import type { RevokeOrder, RevokeTarget } from '../../domain/requests.js';
import { namesAbove, rangeBelow } from '../../domain/resource-name.js';
import { isRevocable } from '../protocol/govern.js';
import type { Changed, LogEntry, Rows } from '../protocol/rows.js';
import type { Crowd } from './crowds.js';
import { decodeRow, encodeState, type LeaseColumns } from './row-codec.js';
import { RowWriter } from './row-writer.js';
import { SPAN, STATE } from './schema.js';
import { dueRows } from './due-list.js';
import type { FileSpace } from './spaces.js';
import type { Statements } from './statements.js';

const NO_LIMIT = -1;
const NO_ROWS: readonly LeaseColumns[] = [];

export class SqlRows implements Rows {
  readonly #sql: Statements;
  readonly #space: FileSpace;
  readonly #now: number;
  readonly #writer: RowWriter;
  /** Within one read nothing changes: a name many tickets wait for is looked up once. */
  #named: Map<string, LeaseRow[]> | undefined;
  /** Reads outside a write transaction leave everything as it is. */
  readonly #mayTidy: boolean;

  constructor(sql: Statements, space: FileSpace, now: number, wall: number, mayTidy: boolean) {
    this.#sql = sql;
    this.#space = space;
    this.#now = now;
    this.#writer = new RowWriter(sql, space, now, wall);
    this.#mayTidy = mayTidy;
  }

  find(id: string): LeaseRow | undefined {
    const recent = this.#space.recent.get(id);
    if (recent) return recent;
    this.#writer.flush();
    const columns = this.#columnsOf(id);
    if (columns === undefined) return undefined;
    const row = decodeRow(columns);
    this.#writer.remember(row, encodeState(row));
    return row;
  }

  #columnsOf(id: string): LeaseColumns | undefined {
    const { id: ns, tail } = this.#space;
    const arrival = tail.arrivalOf(id);
    return arrival === undefined ? this.#sql.find.get(ns, id) : this.#rowsOf([arrival])[0];
  }

  lookUp(id: string, parts: readonly Part[]): { known: LeaseRow | undefined; overlapping: LeaseRow[] } {
    const only = parts[0];
    const { id: ns, crowds, hasOtherNames, hasFirstNames, highestId, tail } = this.#space;
    if (parts.length > 1 || only?.scope !== 'node' || hasOtherNames) {
      return { known: this.find(id), overlapping: this.overlapping(parts) };
    }
    const crowd = crowds.on(only.name);
    if (crowd) {
      return { known: crowd.get(id) ?? this.find(id), overlapping: this.#withoutOldBlocks([...crowd.values()]) };
    }
    this.#writer.flush();
    const rows = hasFirstNames || id <= highestId ? this.#sql.lookUp.all(ns, id, ns, only.name) : NO_ROWS;
    const appended = tail.arrivalOf(id);
    const named = tail.named(only.name);
    if (rows.length === 0 && appended === undefined && named.length === 0) return { known: undefined, overlapping: [] };
    const found = new Map<string, LeaseRow>();
    this.#collect(found, rows);
    this.#collectTail(found, named);
    if (appended !== undefined) this.#collect(found, this.#rowsOf([appended]));
    const known = found.get(id);
    if (known && (encodeState(known) === STATE.over || known.parts[0]?.name !== only.name)) found.delete(id);
    crowds.keep(only.name, found);
    return { known, overlapping: this.#withoutOldBlocks([...found.values()]) };
  }

  overlapping(parts: readonly Part[]): LeaseRow[] {
    const only = parts[0];
    const crowd = parts.length === 1 && only ? this.#crowdOn(only) : undefined;
    if (crowd) return this.#withoutOldBlocks([...crowd.values()]);
    this.#writer.flush();
    const found = new Map<string, LeaseRow>();
    for (const part of parts) {
      this.#collectNamed(found, namesFor(part));
      if (part.scope === 'subtree') this.#collectBelow(found, part);
    }
    return found.size === 0 ? [] : this.#withoutOldBlocks([...found.values()]);
  }

  /** No subtree stands anywhere, so nothing above this name can overlap it. */
  #crowdOn({ name, scope }: Part): Crowd | undefined {
    return scope === 'node' && this.#mayTidy && !this.#space.hasOtherNames ? this.#space.crowds.on(name) : undefined;
  }

  #collectNamed(found: Map<string, LeaseRow>, names: readonly string[]): void {
    const key = this.#mayTidy ? undefined : names.join('\n');
    const known = key === undefined ? undefined : this.#named?.get(key);
    if (known) {
      for (const row of known) found.set(row.id, row);
      return;
    }
    const { id, hasOtherNames, tail } = this.#space;
    const here = new Map<string, LeaseRow>();
    this.#collect(here, this.#sql.byNames(names.length).all(id, ...names));
    for (const name of names) this.#collectTail(here, tail.named(name));
    if (hasOtherNames) this.#collect(here, this.#sql.byOtherNames(names.length).all(id, ...names));
    if (key !== undefined) (this.#named ??= new Map()).set(key, [...here.values()]);
    for (const [rowId, row] of here) found.set(rowId, row);
  }

  /** Bounded where a bound cannot hide a conflict: an exclusive part conflicts with whatever is live below it (S18). */
  #collectBelow(found: Map<string, LeaseRow>, part: Part): void {
    const { id, tail } = this.#space;
    const { from, to } = rangeBelow(part.name);
    this.#collectTail(found, tail.below(part.name));
    const limit = part.mode === 'exclusive' ? LIMITS.rowsPerStep + 1 : NO_LIMIT;
    for (const statement of [this.#sql.below, this.#sql.belowOther]) {
      const page = statement.all(id, from, to, limit);
      this.#collect(found, page);
      const cut = page.length === limit && !page.some((columns) => isLive(decodeRow(columns), this.#now));
      if (cut) this.#collect(found, statement.all(id, from, to, NO_LIMIT));
    }
  }

  #collect(found: Map<string, LeaseRow>, rows: readonly LeaseColumns[]): void {
    for (const columns of rows) if (!found.has(columns[0])) found.set(columns[0], decodeRow(columns));
  }

  /** Rows of the tail that stand. One that is over is looked at once: nothing brings a row back. */
  #collectTail(found: Map<string, LeaseRow>, arrivals: readonly number[]): void {
    for (const columns of this.#rowsOf(arrivals)) {
      const row = decodeRow(columns);
      if (encodeState(row) === STATE.over) this.#space.tail.over(row.arrival, columns[1]);
      else if (!found.has(row.id)) found.set(row.id, row);
    }
  }

  #rowsOf(arrivals: readonly number[]): LeaseColumns[] {
    return arrivals.flatMap((arrival) => this.#sql.byRow.all(this.#space.id * SPAN + arrival));
  }

  /** A block that is over is taken from the index by the first write that comes upon it. */
  #withoutOldBlocks(rows: LeaseRow[]): LeaseRow[] {
    return rows.filter((row) => {
      if (row.status === 'active' || row.status === 'pending') return true;
      if (row.blockedUntil > this.#now || row.keepOutUntil > this.#now) return true;
      if (this.#mayTidy) this.#writer.stopStanding(row);
      this.#space.crowds.drop(row);
      return false;
    });
  }

  matching(order: RevokeOrder, now: number, limit: number): LeaseRow[] {
    this.#writer.flush();
    const found = new Map<string, LeaseRow>();
    for (const rows of this.#aimedAt(order.target)) {
      for (const columns of rows) {
        if (found.size >= limit) break;
        const row = decodeRow(columns);
        if (isRevocable(row, order, now)) found.set(row.id, row);
      }
    }
    return [...found.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Standing rows under what the revocation names, read one by one: it may be much more than one step ends. */
  *#aimedAt(target: RevokeTarget): Generator<Iterable<LeaseColumns>> {
    const { id, tail } = this.#space;
    if ('leaseId' in target) {
      const columns = this.#columnsOf(target.leaseId);
      if (columns) yield [columns];
      return;
    }
    if ('owner' in target) {
      const { owner } = target;
      yield this.#sql.byOwner.iterate(id, owner, id * SPAN + this.#space.indexedTo, (id + 1) * SPAN, owner);
      return;
    }
    const name = 'resource' in target ? target.resource : target.under;
    yield this.#rowsOf(tail.named(name));
    yield this.#sql.byNames(1).iterate(id, name);
    yield this.#sql.byOtherNames(1).iterate(id, name);
    if ('resource' in target) return;
    const { from, to } = rangeBelow(name);
    yield this.#rowsOf(tail.below(name));
    yield this.#sql.below.iterate(id, from, to, NO_LIMIT);
    yield this.#sql.belowOther.iterate(id, from, to, NO_LIMIT);
  }

  deadTickets(now: number, limit: number): LeaseRow[] {
    this.#writer.flush();
    return this.#sql.deadTickets.all(this.#space.id, now, limit).map(decodeRow);
  }

  due(now: number, limit: number): LeaseRow[] {
    this.#writer.flush();
    return dueRows(this.#sql, this.#space, now, limit);
  }

  waiting(limit: number): LeaseRow[] {
    this.#writer.flush();
    return this.#sql.waiting.all(this.#space.id, limit).map(decodeRow);
  }

  add(row: LeaseRow): void {
    this.#writer.add(row);
    this.#space.crowds.follow(row);
  }
  save(row: LeaseRow, changed: Changed): void {
    this.#writer.save(row, changed);
    this.#space.crowds.follow(row);
  }

  log(entry: LogEntry): void {
    this.#writer.log(entry);
  }
  /** Writes what is still to be written: at the end of every step. */
  flush(): void {
    this.#writer.flush();
  }
}

/** The name and those above it: where a row that overlaps a node can stand. */
function namesFor(part: Part): string[] {
  return part.name.includes('/') ? [part.name, ...namesAbove(part.name)] : [part.name];
}
