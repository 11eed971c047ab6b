// Writing rows of one namespace, inside the transaction of a step: lease rows, their names, their log rows, and what is
// remembered of them between steps. Fewer values to bind is most of what a statement costs, so the ordinary form of each
// write has a statement of its own.
import type { LeaseRow } from '../../domain/lease.js';
import type { Changed, LogEntry } from '../protocol/rows.js';
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
    if (state === STATE.active && parts === null && more === null && row.maxRenewals === -1) this.#addPlain(row);
    else this.#addAny(row, state, parts, more);
    this.#keepNames(row, state);
    this.remember(row, state);
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

  /** Writes the renewals of this step: those that end alike by the dozen. Every read of rows calls it first. */
  flush(): void {
    if (this.#renewed.length === 0) return;
    const rows = this.#renewed;
    this.#renewed = [];
    for (let at = 0; at < rows.length;) {
      const group = rows.slice(at, at + RENEWED_TOGETHER);
      const first = group[0] as LeaseRow;
      if (group.length === RENEWED_TOGETHER && group.every((row) => endsAlike(row, first))) {
        const each = group.flatMap((row) => [this.#rowNumber(row.arrival), row.renewals, row.lastRequest ?? null]);
        this.#sql.saveRenewedTogether.run(first.expiresAt, first.renewedAt, first.ttlMs, first.skewMs, each);
        at += RENEWED_TOGETHER;
      } else {
        this.#saveRenewed(first);
        at += 1;
      }
    }
  }

  #saveRenewed(row: LeaseRow): void {
    const { expiresAt, renewedAt, ttlMs, renewals, skewMs, lastRequest } = row;
    const number = this.#rowNumber(row.arrival);
    this.#sql.saveRenewed.run(expiresAt, renewedAt, ttlMs, renewals, skewMs, lastRequest ?? null, number);
  }

  #saveNow(row: LeaseRow, changed: Changed): void {
    const number = this.#rowNumber(row.arrival);
    const lastRequest = row.lastRequest ?? null;
    this.flush();
    const state = encodeState(row);
    this.remember(row, state);
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

  /** Takes a block that is over from the index of names. */
  stopStanding(row: LeaseRow): void {
    this.#sql.clearState.run(this.#rowNumber(row.arrival));
    this.#keepNames(row, STATE.over);
  }
}

function endsAlike(a: LeaseRow, b: LeaseRow): boolean {
  return a.expiresAt === b.expiresAt && a.renewedAt === b.renewedAt && a.ttlMs === b.ttlMs && a.skewMs === b.skewMs;
}
