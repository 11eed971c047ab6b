// What a program has seen so far and can pick from: the ids it made, the epochs and positions the store answered, and
// what stands at present. Who is live is looked up in the model; epochs are the store's.
import { makeId } from '../../../domain/ids.js';
import type { Lease } from '../../../domain/lease.js';
import type { AcquireRequest, ChangeRequest, EndRequest, RenewRequest } from '../../../domain/requests.js';
import type { WaitGraph } from '../../../domain/wait-graph.js';
import type { Model } from '../../../stores/memory/model.js';
import type { HandedTo } from '../../../stores/store.js';
import type { Call, Spot } from './call.js';

export interface KnownId {
  readonly id: string;
  readonly bornAt: number;
  /** Unset for an id that was only ended so far. */
  request?: AcquireRequest;
  /** The epochs the store gave it, the newest last. */
  readonly epochs: number[];
}

export class Known {
  /** The store clock as of the last answer. */
  now = 0;
  readonly ids: KnownId[] = [];
  readonly epochs: number[] = [];
  readonly spots: { row: Spot[]; next: Spot[]; back: Spot[] } = { row: [], next: [], back: [] };
  readonly asked: { renew: RenewRequest[]; end: EndRequest[]; change: ChangeRequest[] } = {
    renew: [],
    end: [],
    change: [],
  };
  readonly #model: Model;
  #requests = 0;

  constructor(model: Model) {
    this.#model = model;
  }

  /** Ids are a matter of the program: the mark in front decides how they sort, the count makes them one. */
  newId(mark: string, bornAt: number): KnownId {
    const known = { id: makeId(0, `${mark}-id${String(this.ids.length + 1).padStart(5, '0')}`), bornAt, epochs: [] };
    this.ids.push(known);
    return known;
  }

  remember(request: AcquireRequest): AcquireRequest {
    const known = this.ids.find(({ id }) => id === request.id);
    if (known) known.request = request;
    return request;
  }

  newRequestId(): string {
    this.#requests += 1;
    return `request-${this.#requests}`;
  }

  live(): KnownId[] {
    return this.#inState('active');
  }
  waiting(): KnownId[] {
    return this.#inState('pending');
  }
  /** Ids that became a lease or a ticket and are not forgotten. */
  seen(): KnownId[] {
    return this.ids.filter((known) => this.leaseOf(known) !== undefined);
  }
  leaseOf(known: KnownId | undefined): Lease | undefined {
    return known && this.#model.get(this.now, [known.id])[0];
  }
  waitGraph(): WaitGraph {
    return this.#model.waitGraph(this.now);
  }
  newestEpoch(): number {
    return Math.max(...this.epochs);
  }

  /** Takes what an answer tells into memory. */
  learn(call: Call, store: object, model: object): void {
    const answer = store as {
      results?: readonly { lease?: Lease; epoch?: number; handedTo?: HandedTo }[];
      epoch?: number;
    };
    if (answer.epoch !== undefined) this.epochs.push(answer.epoch);
    for (const { lease, handedTo } of answer.results ?? []) {
      const held = lease ?? handedTo;
      if (held === undefined) continue;
      this.epochs.push(held.epoch);
      const known = this.ids.find(({ id }) => id === held.id);
      if (known && known.epochs.at(-1) !== held.epoch) known.epochs.push(held.epoch);
    }
    if (call.op === 'events') this.#learnSpots(call.asked.backward === true, store, model);
  }

  #learnSpots(backward: boolean, store: Positions, model: Positions): void {
    const { row, next, back } = this.spots;
    if (store.next !== undefined && model.next !== undefined) {
      (backward ? back : next).push({ store: store.next, model: model.next });
    }
    if (store.oldest !== undefined && model.oldest !== undefined) {
      next.push({ store: store.oldest, model: model.oldest });
    }
    for (const [i, { id }] of (store.rows ?? []).entries()) {
      const other = model.rows?.[i];
      if (other && !row.some((spot) => spot.store === id)) row.push({ store: id, model: other.id });
    }
  }

  #inState(status: string): KnownId[] {
    return this.ids.filter((known) => this.leaseOf(known)?.status === status);
  }
}

interface Positions {
  readonly next?: string;
  readonly oldest?: string;
  readonly rows?: readonly { readonly id: string }[];
}

/** The nth from the end, going round: 0 is the newest. */
export function nth<T>(list: readonly T[], n: number): T | undefined {
  return list.length === 0 ? undefined : list[list.length - 1 - (n % list.length)];
}
