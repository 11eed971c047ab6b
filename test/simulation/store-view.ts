// The truth: what stands in the model, read again after every call that may have changed it, and the log rows that came
// with it. Also what each process was told, because a trust window follows from answers (S7).
import type { LogRow } from '../../src/domain/events.js';
import type { Lease } from '../../src/domain/lease.js';
import type { AcquireRequest, RenewRequest } from '../../src/domain/requests.js';
import { trustedUntil } from '../../src/domain/trust-window.js';
import type { MemoryStore } from '../../src/stores/memory/index.js';
import type { Call } from './faulty-network.js';
import type { SimulatedProcess } from './simulated-process.js';
import { EPOCH_WALL_MS, Violation, type World } from './world.js';

const PAGE = 1_000;
const CHANGES: ReadonlySet<Call> = new Set<Call>([
  'acquire',
  'renew',
  'end',
  'change',
  'revoke',
  'failTicket',
  'sweep',
]);

export class StoreView {
  readonly #world: World;
  readonly #store: MemoryStore;
  #position: string | undefined;
  /** What is live: leases and tickets by id. */
  standing: ReadonlyMap<string, Lease> = new Map();
  /** Rows the checks have not seen yet. */
  newRows: LogRow[] = [];
  /** Something was asked of the store since the checks looked last. */
  isFresh = false;
  /** The first request under each id. */
  readonly requests = new Map<string, AcquireRequest>();
  /** Ids that somebody has sent an end for, whether or not it arrived. */
  readonly endsSent = new Set<string>();
  readonly #unanswered = new Map<string, number>();
  /** The true time at which each id was last asked for. */
  readonly askedAt = new Map<string, number>();
  /** Process, id and epoch of every end. */
  readonly #released = new Set<string>();
  /** How each lease ended, as the log has it. */
  readonly ends = new Map<string, LogRow>();
  /** The epoch each upgraded lease had before: the holder may not know the new one yet. */
  readonly #beforeUpgrade = new Map<string, number>();
  /** Until when, on its own monotonic clock, each process may believe in each lease at most. */
  readonly #windows = new Map<SimulatedProcess, Map<string, number>>();
  /** Leases a process was told that it does not hold. */
  readonly #refusals = new Map<SimulatedProcess, Set<string>>();

  constructor(world: World, store: MemoryStore) {
    this.#world = world;
    this.#store = store;
  }

  /** The store clock: whole milliseconds (S13). */
  get now(): number {
    return Math.floor(EPOCH_WALL_MS + this.#world.now);
  }
  /** The true time at which the store clock shows this. */
  trueTimeOf(storeMs: number): number {
    return storeMs - EPOCH_WALL_MS;
  }

  lease(id: string): Lease | undefined {
    const lease = this.standing.get(id);
    return lease?.status === 'active' && this.now < lease.expiresAt ? lease : undefined;
  }

  /** A process sends something. */
  sent(process: SimulatedProcess, call: Call, asked: readonly unknown[]): void {
    for (const one of asked as readonly { id: string; epoch?: number }[]) {
      const held = `${process.name} ${one.id} ${String(one.epoch)}`;
      if (call === 'end') {
        this.endsSent.add(one.id);
        this.#released.add(held);
      } else if (call === 'acquire') {
        this.#unanswered.set(one.id, (this.#unanswered.get(one.id) ?? 0) + 1);
        this.askedAt.set(one.id, this.#world.now);
      } else if (call === 'renew' && this.#released.has(held)) {
        this.#world.fail(
          new Violation(`S15: ${process.name} renews ${one.id.slice(-5)} after it has sent its release`),
        );
      }
    }
  }
  /** Some acquire under this id has had no answer: whether it arrives, and what it then does, nobody knows (S15). */
  isUnknown(id: string): boolean {
    return (this.#unanswered.get(id) ?? 0) > 0;
  }

  /** A call has just acted on the store. */
  changed(call: Call, asked: readonly unknown[]): void {
    if (call === 'acquire') {
      for (const request of asked as readonly AcquireRequest[]) {
        if (!this.requests.has(request.id)) this.requests.set(request.id, request);
      }
    }
    if (!CHANGES.has(call)) return;
    const listed = this.#store.list({ limit: PAGE });
    const logged = this.#store.events({ after: this.#position, limit: PAGE });
    Promise.all([listed, logged])
      .then(
        ([{ items }, events]) => {
          this.standing = new Map(items.map((item) => [item.id, item]));
          this.isFresh = true;
          if (events.outcome === 'lost') throw new Error('the log of the simulation has lost its beginning');
          this.#position = events.next;
          for (const row of events.rows) this.#read(row);
        },
        (error: unknown) => this.#world.fail(error),
      )
      .catch((error: unknown) => this.#world.fail(error));
  }

  #read(row: LogRow): void {
    this.newRows.push(row);
    const isEnd = row.type === 'lease.released' || row.type === 'lease.expired' || row.type === 'lease.revoked';
    if (row.leaseId === undefined) return;
    if (isEnd) this.ends.set(row.leaseId, row);
    const from = row.data['fromEpoch'];
    if (row.type === 'lease.upgraded') this.#beforeUpgrade.set(`${row.leaseId} ${String(row.epoch)}`, Number(from));
  }

  /** Does the store have this lease live, with this epoch or one its own holder's upgrade has drawn since? */
  has(id: string, epoch: number): boolean {
    const lease = this.lease(id);
    if (lease === undefined || lease.epoch === epoch) return lease !== undefined;
    return this.#beforeUpgrade.get(`${id} ${lease.epoch}`) === epoch;
  }

  /** An answer has reached a process. */
  answered(process: SimulatedProcess, call: Call, asked: readonly unknown[], answer: unknown, sentAt: number): void {
    if (call === 'get') return this.#shown(process, answer as Awaited<ReturnType<MemoryStore['get']>>, sentAt);
    if (call !== 'acquire' && call !== 'renew' && call !== 'change') return;
    const { results } = answer as { results: readonly Told[] };
    for (const [i, told] of results.entries()) {
      const request = asked[i] as RenewRequest;
      if (call === 'acquire') this.#unanswered.set(request.id, (this.#unanswered.get(request.id) ?? 0) - 1);
      const id = told.lease?.id ?? request.id;
      // A newer epoch may be the holder's own upgrade; only an end is a definite no.
      if (told.outcome === 'notHeld' && told.status !== 'active') this.#refused(process).add(`${id} ${request.epoch}`);
      const ttlMs = told.lease?.ttlMs ?? request.ttlMs ?? this.requests.get(id)?.ttlMs;
      // What a ticket is handed lives at least as long as the ticket would have (Q1).
      const leftMs = told.remainingMs ?? (ttlMs === undefined ? undefined : Math.min(told.ticketLeftMs ?? 0, ttlMs));
      if (leftMs !== undefined && ttlMs !== undefined) this.#trust(process, id, sentAt, leftMs, ttlMs);
    }
  }

  /** A look at a lease says how much remains of it as well. */
  #shown(process: SimulatedProcess, { items, now }: Awaited<ReturnType<MemoryStore['get']>>, sentAt: number): void {
    for (const item of items) {
      if (item?.status === 'active') this.#trust(process, item.id, sentAt, item.expiresAt - now, item.ttlMs);
    }
  }

  #trust(process: SimulatedProcess, id: string, sentAt: number, remainingMs: number, ttlMs: number): void {
    const windows = this.#windowsOf(process);
    windows.set(id, Math.max(windows.get(id) ?? 0, trustedUntil(sentAt, remainingMs, ttlMs)));
  }

  /** No handle of this process may be trusted later than this. */
  trustedUntil(process: SimulatedProcess, leaseId: string): number {
    return this.#windowsOf(process).get(leaseId) ?? 0;
  }
  wasRefused(process: SimulatedProcess, leaseId: string, epoch: number): boolean {
    return this.#refusals.get(process)?.has(`${leaseId} ${epoch}`) ?? false;
  }

  #windowsOf(process: SimulatedProcess): Map<string, number> {
    const known = this.#windows.get(process) ?? new Map<string, number>();
    this.#windows.set(process, known);
    return known;
  }
  #refused(process: SimulatedProcess): Set<string> {
    const known = this.#refusals.get(process) ?? new Set<string>();
    this.#refusals.set(process, known);
    return known;
  }
}

interface Told {
  readonly outcome: string;
  readonly status?: string;
  readonly remainingMs?: number;
  readonly ticketLeftMs?: number;
  readonly lease?: Lease;
}
