// Writing rows of one namespace, inside the transaction of a step: lease rows, their names, their log rows, and what is
// remembered of them between steps. Fewer values to bind is most of what a statement costs, so the ordinary form of each
// write has a statement of its own, and an ordinary grant is written together with its log row (granted-row.ts).
import type { LeaseRow } from '../../domain/lease.js';
import type { Changed, LogEntry } from '../protocol/rows.js';
import { isSaidBy } from './granted-row.js';
import { encodeLogMore, encodeType } from './log-codec.js';
import { encodeMore, encodeParts, encodeState, encodeStatus } from './row-codec.js';
import { SPAN, STATE } from './schema.js';
import type { FileSpace } from './spaces.js';
import { RENEWED_TOGETHER, type Statements } from './statements.js';

const MOST_RECENT = 16_384;

export class RowWriter {
  readonly #sql: Statements;
  readonly #space: FileSpace;
  readonly #now: number;
  readonly #wall: number;
  #renewed: LeaseRow[] = [];
  /** An ordinary grant, held back until its event comes or anything else happens. */
  #grant: LeaseRow | undefined;

  constructor(sql: Statements, space: FileSpace, now: number, wall: number) {
    this.#sql = sql;
    this.#space = space;
    this.#now = now;
    this.#wall = wall;
  }

  add(row: LeaseRow): void {
    const state = encodeState(row);
    const parts = encodeParts(row);
    const more = encodeMore(row);
    this.flush();
    if (state === STATE.active && parts === null && more === null && row.maxRenewals === -1) this.#grant = row;
    else this.#addAny(row, state, parts, more);
    this.#keepOtherNames(row, state);
    this.#space.tail.add(row.arrival, row.id, row.parts[0]?.name ?? '', state !== STATE.over);
    this.remember(row, state);
  }

  /** A grant of one exclusive node on ordinary terms: nearly every one. With `type` it is its own log row too. */
  #addPlain(row: LeaseRow, type?: number): void {
    const number = this.#rowNumber(row.arrival);
    const { id: ns } = this.#space;
    const { id, parts, owner, epoch, expiresAt, acquiredAt, ttlMs, content, skewMs } = row;
    const name = parts[0]?.name;
    if (type === undefined) {
      this.#sql.addPlain.run(number, ns, id, name, owner, epoch, expiresAt, acquiredAt, ttlMs, content, skewMs);
      return;
    }
    const { addGranted } = this.#sql;
    addGranted.run(number, ns, id, name, owner, epoch, expiresAt, acquiredAt, ttlMs, content, skewMs, type, this.#wall);
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
  remember(row: LeaseRow, state: number): void {
    const { recent } = this.#space;
    if (state !== STATE.active) {
      recent.delete(row.id);
      return;
    }
    if (recent.size >= MOST_RECENT) recent.clear();
    recent.set(row.id, row);
  }

  save(row: LeaseRow, changed: Changed): void {
    if (changed === 'renewed') this.#renewed.push(row);
    else this.#saveNow(row, changed);
  }

  /** Writes what was held back: a grant, and renewals, those that end alike by the dozen. Every read calls it first. */
  flush(): void {
    if (this.#grant) {
      const grant = this.#grant;
      this.#grant = undefined;
      this.#addPlain(grant);
    }
    if (this.#renewed.length > 0) this.#writeRenewals();
  }

  #writeRenewals(): void {
    const rows = this.#renewed;
    this.#renewed = [];
    for (let at = 0; at < rows.length;) {
      const first = rows[at] as LeaseRow;
      if (isGroup(rows, at)) {
        this.#sql.saveRenewedTogether.run(first.expiresAt, first.renewedAt, this.#eachOf(rows, at));
        at += RENEWED_TOGETHER;
      } else {
        this.#saveRenewed(first);
        at += 1;
      }
    }
  }

  /** What differs from row to row, one value after the other. */
  #eachOf(rows: readonly LeaseRow[], from: number): unknown[] {
    const each: unknown[] = [];
    for (let i = from; i < from + RENEWED_TOGETHER; i += 1) {
      const { arrival, renewals, skewMs, lastRequest } = rows[i] as LeaseRow;
      each.push(this.#rowNumber(arrival), renewals, skewMs, lastRequest ?? null);
    }
    return each;
  }

  #saveRenewed(row: LeaseRow): void {
    const { expiresAt, renewedAt, renewals, skewMs, lastRequest } = row;
    const number = this.#rowNumber(row.arrival);
    this.#sql.saveRenewed.run(expiresAt, renewedAt, renewals, skewMs, lastRequest ?? null, number);
  }

  #saveNow(row: LeaseRow, changed: Changed): void {
    const number = this.#rowNumber(row.arrival);
    const lastRequest = row.lastRequest ?? null;
    this.flush();
    const state = encodeState(row);
    this.remember(row, state);
    if (changed === 'ended') {
      const [status, endedAt, more] = [encodeStatus(row.status), row.endedAt ?? null, encodeMore(row)];
      if (more === null) this.#sql.saveEndedPlain.run(status, endedAt, number);
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
        row.owner,
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
    if (state === STATE.over) this.#dropFirstName(row);
    this.#keepOtherNames(row, state);
  }

  /** In the tail, or in the index behind it. */
  #dropFirstName(row: LeaseRow): void {
    const name = row.parts[0]?.name ?? '';
    const { id, indexedTo, tail } = this.#space;
    if (row.arrival > indexedTo) tail.over(row.arrival, name);
    else this.#sql.dropFirstName.run(id, name, this.#rowNumber(row.arrival));
  }

  #keepOtherNames(row: LeaseRow, state: number): void {
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
    const more = encodeLogMore(entry);
    if (this.#grant && this.#isSaidByGrant(this.#grant, entry, more)) return;
    space.arrival += 1;
    const number = this.#rowNumber(space.arrival);
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

  /** Writes the grant that was held back, with its event in the same row where that is possible. */
  #isSaidByGrant(grant: LeaseRow, entry: LogEntry, more: string | null): boolean {
    this.#grant = undefined;
    const isSaid = more === null && this.#space.tickets === 0 && isSaidBy(grant, entry);
    this.#addPlain(grant, isSaid ? encodeType(entry.type) : undefined);
    return isSaid;
  }

  /** Takes a block that is over from among what stands. */
  stopStanding(row: LeaseRow): void {
    this.#sql.clearState.run(this.#rowNumber(row.arrival));
    this.#dropFirstName(row);
    this.#keepOtherNames(row, STATE.over);
  }
}

/** Whether a whole group from here on was renewed alike. */
function isGroup(rows: readonly LeaseRow[], from: number): boolean {
  const last = from + RENEWED_TOGETHER - 1;
  if (last >= rows.length) return false;
  const { expiresAt, renewedAt } = rows[from] as LeaseRow;
  for (let i = last; i > from; i -= 1) {
    const row = rows[i] as LeaseRow;
    if (row.expiresAt !== expiresAt || row.renewedAt !== renewedAt) return false;
  }
  return true;
}
