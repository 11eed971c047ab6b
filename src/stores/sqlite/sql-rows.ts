// The protocol's rows in SQLite, for one namespace. Reads come from the indexes of standing rows; writes go through as
// they are made, inside the transaction of the step. The names of subtrees, and all names of a lease but its first, are
// in `other_name` for as long as it stands; while that is empty, one look-up by name says all.
import { isLive } from '../../domain/expiry.js';
import type { LeaseRow } from '../../domain/lease.js';
import { LIMITS } from '../../domain/limits.js';
import type { Part } from '../../domain/part.js';
import type { RevokeOrder, RevokeTarget } from '../../domain/requests.js';
import { namesAbove, rangeBelow } from '../../domain/resource-name.js';
import { isRevocable } from '../protocol/govern.js';
import type { Changed, LogEntry, Rows } from '../protocol/rows.js';
import { encodeLogMore, encodeType } from './log-codec.js';
import { decodeRow, encodeMore, encodeParts, encodeState, encodeStatus, type LeaseColumns } from './row-codec.js';
import { SPAN, STATE } from './schema.js';
import { dueRows } from './due-list.js';
import type { FileSpace } from './spaces.js';
import type { Statements } from './statements.js';

const NO_LIMIT = -1;
const MOST_RECENT = 16_384;

export class SqlRows implements Rows {
  readonly #sql: Statements;
  readonly #space: FileSpace;
  readonly #now: number;
  readonly #wall: number;
  /** Reads outside a write transaction leave everything as it is. */
  readonly #mayTidy: boolean;

  constructor(sql: Statements, space: FileSpace, now: number, wall: number, mayTidy: boolean) {
    this.#sql = sql;
    this.#space = space;
    this.#now = now;
    this.#wall = wall;
    this.#mayTidy = mayTidy;
  }

  find(id: string): LeaseRow | undefined {
    const recent = this.#space.recent.get(id);
    if (recent) return recent;
    const columns = this.#sql.find.get(this.#space.id, id);
    if (columns === undefined) return undefined;
    const row = decodeRow(columns);
    this.#remember(row, encodeState(row));
    return row;
  }

  lookUp(id: string, parts: readonly Part[]): { known: LeaseRow | undefined; overlapping: LeaseRow[] } {
    const only = parts[0];
    const { id: ns, hasOtherNames } = this.#space;
    if (parts.length > 1 || only?.scope !== 'node' || hasOtherNames) {
      return { known: this.find(id), overlapping: this.overlapping(parts) };
    }
    // No subtree stands anywhere, so nothing above this name can overlap it.
    const rows = this.#sql.lookUp.all(ns, id, ns, only.name);
    if (rows.length === 0) return { known: undefined, overlapping: [] };
    const found = new Map<string, LeaseRow>();
    this.#collect(found, rows);
    const known = found.get(id);
    if (known && encodeState(known) === STATE.over) found.delete(id);
    return { known, overlapping: this.#withoutOldBlocks([...found.values()]) };
  }

  overlapping(parts: readonly Part[]): LeaseRow[] {
    const found = new Map<string, LeaseRow>();
    for (const part of parts) {
      this.#collectNamed(found, namesFor(part));
      if (part.scope === 'subtree') this.#collectBelow(found, part);
    }
    return found.size === 0 ? [] : this.#withoutOldBlocks([...found.values()]);
  }

  #collectNamed(found: Map<string, LeaseRow>, names: readonly string[]): void {
    const { id, hasOtherNames } = this.#space;
    this.#collect(found, this.#sql.byNames(names.length).all(id, ...names));
    if (hasOtherNames) this.#collect(found, this.#sql.byOtherNames(names.length).all(id, ...names));
  }

  /** Bounded where a bound cannot hide a conflict: an exclusive part conflicts with whatever is live below it (S18). */
  #collectBelow(found: Map<string, LeaseRow>, part: Part): void {
    const { id } = this.#space;
    const { from, to } = rangeBelow(part.name);
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

  /** A block that is over is taken from the index by the first write that comes upon it. */
  #withoutOldBlocks(rows: LeaseRow[]): LeaseRow[] {
    return rows.filter((row) => {
      if (row.status === 'active' || row.status === 'pending') return true;
      if (row.blockedUntil > this.#now || row.keepOutUntil > this.#now) return true;
      if (this.#mayTidy) this.#stopStanding(row);
      return false;
    });
  }

  #stopStanding(row: LeaseRow): void {
    this.#sql.clearState.run(this.#rowNumber(row.arrival));
    this.#keepNames(row, STATE.over);
  }

  matching(order: RevokeOrder, now: number, limit: number): LeaseRow[] {
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
    const { id } = this.#space;
    if ('leaseId' in target) {
      yield this.#sql.findStanding.iterate(id, target.leaseId);
      return;
    }
    if ('owner' in target) {
      yield this.#sql.byOwner.iterate(id, target.owner);
      return;
    }
    const name = 'resource' in target ? target.resource : target.under;
    yield this.#sql.byNames(1).iterate(id, name);
    yield this.#sql.byOtherNames(1).iterate(id, name);
    if ('resource' in target) return;
    const { from, to } = rangeBelow(name);
    yield this.#sql.below.iterate(id, from, to, NO_LIMIT);
    yield this.#sql.belowOther.iterate(id, from, to, NO_LIMIT);
  }

  deadTickets(now: number, limit: number): LeaseRow[] {
    return this.#sql.deadTickets.all(this.#space.id, now, limit).map(decodeRow);
  }

  due(now: number, limit: number): LeaseRow[] {
    return dueRows(this.#sql, this.#space, now, limit);
  }

  waiting(limit: number): LeaseRow[] {
    return this.#sql.waiting.all(this.#space.id, limit).map(decodeRow);
  }

  add(row: LeaseRow): void {
    const state = encodeState(row);
    const parts = encodeParts(row);
    const more = encodeMore(row);
    if (state === STATE.active && parts === null && more === null && row.maxRenewals === -1) this.#addPlain(row);
    else this.#addAny(row, state, parts, more);
    this.#keepNames(row, state);
    this.#remember(row, state);
  }

  /** A grant of one exclusive node on ordinary terms: nearly every one. Fewer values to bind is most of its cost. */
  #addPlain(row: LeaseRow): void {
    this.#sql.addPlain.run(
      this.#rowNumber(row.arrival),
      this.#space.id,
      row.id,
      row.parts[0]?.name,
      row.owner,
      row.epoch,
      row.expiresAt,
      row.acquiredAt,
      row.ttlMs,
      row.content,
      row.skewMs,
    );
  }

  #addAny(row: LeaseRow, state: number, parts: string | null, more: string | null): void {
    this.#sql.add.run(
      this.#rowNumber(row.arrival),
      this.#space.id,
      row.id,
      state,
      row.parts[0]?.name ?? '',
      row.owner,
      row.epoch,
      encodeStatus(row.status),
      row.expiresAt,
      row.acquiredAt,
      row.renewedAt === row.acquiredAt ? null : row.renewedAt,
      row.endedAt ?? null,
      row.ttlMs,
      row.content,
      row.maxRenewals === -1 ? null : row.maxRenewals,
      row.skewMs,
      parts,
      more,
    );
  }

  #rowNumber(arrival: number): number {
    return this.#space.id * SPAN + arrival;
  }

  /** A row the sweep has passed may end sooner than its entry says (a ticket that became a short lease): listed anew. */
  #listAgain(row: LeaseRow, state: number): void {
    const stands = state === STATE.active || state === STATE.pending;
    if (!stands || row.arrival > this.#space.sweptTo) return;
    this.#sql.addDue.run(this.#space.id, row.expiresAt, this.#rowNumber(row.arrival));
  }

  /** Only what is active: it is what its holder will name next, to renew or to end it. */
  #remember(row: LeaseRow, state: number): void {
    const { recent } = this.#space;
    if (state !== STATE.active) {
      recent.delete(row.id);
      return;
    }
    if (recent.size >= MOST_RECENT) recent.clear();
    recent.set(row.id, row);
  }

  save(row: LeaseRow, changed: Changed): void {
    const number = this.#rowNumber(row.arrival);
    const lastRequest = row.lastRequest ?? null;
    if (changed === 'renewed') {
      this.#sql.saveRenewed.run(row.expiresAt, row.renewedAt, row.ttlMs, row.renewals, row.skewMs, lastRequest, number);
      return;
    }
    const state = encodeState(row);
    this.#remember(row, state);
    if (changed === 'ended') {
      const [status, endedAt, more] = [encodeStatus(row.status), row.endedAt ?? null, encodeMore(row)];
      if (more === null) this.#sql.saveEndedPlain.run(status, endedAt, lastRequest, number);
      else this.#sql.saveEnded.run(state, status, endedAt, lastRequest, more, number);
    } else {
      this.#sql.saveWhole.run(
        state,
        row.owner,
        row.epoch,
        encodeStatus(row.status),
        row.expiresAt,
        row.acquiredAt,
        row.renewedAt,
        row.endedAt ?? null,
        row.ttlMs,
        row.renewals,
        row.skewMs,
        lastRequest,
        encodeParts(row),
        encodeMore(row),
        number,
      );
      this.#listAgain(row, state);
    }
    this.#keepNames(row, state);
  }

  #keepNames(row: LeaseRow, state: number): void {
    const only = row.parts[0];
    if (row.parts.length < 2 && only?.scope !== 'subtree') return;
    this.#space.hasOtherNames = true;
    const statement = state === STATE.over ? this.#sql.dropName : this.#sql.addName;
    for (const [i, part] of row.parts.entries()) {
      if (i > 0 || part.scope === 'subtree') statement.run(this.#space.id, part.name, this.#rowNumber(row.arrival));
    }
  }

  log(entry: LogEntry): void {
    const space = this.#space;
    if (!space.settings.keep_history) return;
    space.arrival += 1;
    const number = this.#rowNumber(space.arrival);
    const more = encodeLogMore(entry);
    const [name, owner, epoch, lease] = [
      entry.resource ?? null,
      entry.owner ?? null,
      entry.epoch ?? null,
      entry.leaseId ?? null,
    ];
    const type = encodeType(entry.type);
    const data = JSON.stringify(entry.data);
    const { id } = space;
    const [now, wall] = [this.#now, this.#wall];
    if (more === null && space.tickets === 0) {
      this.#sql.logPlain.run(number, id, name, owner, epoch, type, now, wall, lease, space.epoch, data);
      return;
    }
    const tickets = space.tickets === 0 ? null : space.tickets;
    this.#sql.log.run(number, id, name, owner, epoch, type, now, wall, lease, space.epoch, tickets, more, data);
  }
}

/** The name and those above it: where a row that overlaps a node can stand. */
function namesFor(part: Part): string[] {
  return part.name.includes('/') ? [part.name, ...namesAbove(part.name)] : [part.name];
}
