// Who waits here, and telling them (Q3). Tickets joined through this store are remembered until they are answered
// otherwise, or are not refreshed any more; while there are any, writes of other processes are watched for and their freed
// names looked up. Listeners that want to hear of every change are told of it, whoever wrote.
import type { Clock } from '../../domain/clock.js';
import type { Part } from '../../domain/part.js';
import type { LogRow, StoredType } from '../../domain/events.js';
import { LIMITS, TICKET_LIFE_MS } from '../../domain/limits.js';
import { tellEach } from '../../domain/tell-each.js';
import { wokenFor } from '../protocol/wake.js';
import type { StoreListener } from '../store.js';
import { Bell } from './bell.js';
import { Neighbours } from './neighbours.js';
import type { Look, SqliteFile } from './sqlite-file.js';

const FREEING: ReadonlySet<StoredType> = new Set<StoredType>([
  'lease.released',
  'lease.expired',
  'lease.revoked',
  'lease.failed',
  'lease.downgraded',
  'deadlock.detected',
]);

export class Waiters {
  readonly #file: SqliteFile;
  readonly #clock: Clock;
  readonly #namespace: string;
  readonly #bell: Bell;
  readonly #neighbours: Neighbours;
  readonly #listeners = new Set<StoreListener>();
  /** Somebody wants to hear of every change. */
  #isWatched = false;
  /** With the time of the last refresh, by which they are ordered. */
  readonly #tickets = new Map<string, number>();
  #version: unknown;
  #seen: string | undefined;

  constructor(file: SqliteFile, namespace: string) {
    this.#file = file;
    this.#clock = file.clock;
    this.#namespace = namespace;
    this.#bell = new Bell(file.path);
    this.#neighbours = new Neighbours(
      this.#bell,
      file.clock,
      () => this.#look(),
      (ticketIds) => this.#wakeOwn(ticketIds),
    );
  }

  subscribe(listener: StoreListener): () => void {
    this.#listeners.add(listener);
    this.#listenersChanged();
    return () => {
      this.#listeners.delete(listener);
      this.#listenersChanged();
    };
  }

  #listenersChanged(): void {
    this.#isWatched = [...this.#listeners].some((listener) => listener.changed !== undefined);
    this.#startOrStop();
  }

  /** Keeps the list of tickets by what the store answered; an answer that is not 'queued' ends the wait. */
  answered(requests: readonly { id: string }[], results: readonly { outcome: string }[]): void {
    const { size } = this.#tickets;
    for (let i = 0; i < results.length; i += 1) {
      const id = requests[i]?.id ?? '';
      if (this.#tickets.size > 0) this.#tickets.delete(id);
      if (results[i]?.outcome === 'queued') this.#tickets.set(id, this.#clock.monotonic());
    }
    if (this.#tickets.size !== size) this.#startOrStop();
  }

  /** The neighbours are listened to only while somebody here wants to know. */
  #startOrStop(): void {
    const isWanted = this.#isWatched || (this.#tickets.size > 0 && this.#listeners.size > 0);
    if (isWanted) this.#neighbours.start();
    else this.#neighbours.stop();
  }

  /** This process wrote. */
  changed(): void {
    if (this.#isWatched) this.#clock.soon(() => this.#tellOfChange());
  }

  #tellOfChange(): void {
    tellEach(this.#listeners, (listener) => listener.changed?.());
  }

  /** This process freed something: its own waiters are told, and the bell is rung for those of others. */
  freed(woken: readonly string[]): void {
    this.announce(woken);
    const others = woken.filter((id) => !this.#tickets.has(id));
    if (others.length > 0) this.#bell.ring(others);
  }

  /** After the answer is on its way, so that a listener that claims at once disturbs nobody. */
  announce(woken: readonly string[]): void {
    if (this.#listeners.size === 0) return;
    this.#clock.soon(() => tellEach(this.#listeners, (listener) => listener.wake?.(woken)));
  }

  close(): void {
    this.#neighbours.stop();
    this.#bell.close();
    this.#listeners.clear();
    this.#tickets.clear();
  }

  #wakeOwn(ticketIds: readonly string[]): void {
    const own = ticketIds.filter((id) => this.#tickets.has(id));
    if (own.length > 0) this.announce(own);
  }

  /** Nobody says that whoever waited has died. What was not refreshed for so long is over in the file as well. */
  #dropSilent(): void {
    const { size } = this.#tickets;
    const before = this.#clock.monotonic() - TICKET_LIFE_MS;
    for (const [id, refreshedAt] of this.#tickets) {
      if (refreshedAt >= before) break;
      this.#tickets.delete(id);
    }
    if (this.#tickets.size !== size) this.#startOrStop();
  }

  #look(): void {
    this.#dropSilent();
    let woken: string[];
    try {
      const version = this.#file.dataVersion();
      if (version === this.#version) return;
      woken = this.#tickets.size > 0 ? this.#file.read(this.#namespace, (look) => this.#freedByOthers(look)) : [];
      this.#version = version;
    } catch {
      return; // A hint that could not be read; the ticket's next refresh finds out.
    }
    if (woken.length > 0) this.announce(woken);
    this.#tellOfChange();
  }

  #freedByOthers({ now, space, rows }: Look): string[] {
    const { incarnation } = this.#file.anchor;
    if (!space.settings.keep_history) return [...this.#tickets.keys()];
    if (this.#seen === undefined) {
      this.#seen = this.#end(space, incarnation);
      return [...this.#tickets.keys()];
    }
    const answer = this.#file.log.read(space, incarnation, { after: this.#seen, limit: LIMITS.rowsPerStep });
    if (answer.outcome === 'lost' || answer.more) {
      this.#seen = this.#end(space, incarnation);
      return [...this.#tickets.keys()];
    }
    this.#seen = answer.next;
    const freeing = answer.rows.filter((row) => FREEING.has(row.type));
    const victims = freeing.filter((row) => row.type === 'deadlock.detected').map((row) => row.leaseId ?? '');
    const woken = [...victims, ...wokenFor(rows, freeing.flatMap(freedParts), now)];
    return woken.filter((id) => this.#tickets.has(id));
  }

  #end(space: Look['space'], incarnation: string): string | undefined {
    const last = this.#file.log.read(space, incarnation, { backward: true, limit: 1 });
    return last.outcome === 'rows' ? (last.rows[0]?.id ?? last.next) : undefined;
  }
}

/** The log does not say which scope was freed; a subtree wakes whoever may have waited below. Needless is harmless. */
function freedParts(row: LogRow): Part[] {
  const names = row.resources ?? (row.resource === undefined ? [] : [row.resource]);
  return names.map((name) => ({ name, scope: 'subtree', mode: 'exclusive' }));
}
