// A small document (up to 4 KiB) kept in any store: the metadata of a long lease in the internal namespace, replaced in one
// step by a reclaim. Whoever writes holds a turn, so that two do not write at once; one that was late and did replaces a
// document by an older one that is no less true. Without an answer it is written once more under the same id, which
// changes nothing where it had been; without one to that either, the next reader sees what was written.
import type { Clock } from '../domain/clock.js';
import { LeaseError, mayPass } from '../domain/errors.js';
import { makeId } from '../domain/ids.js';
import { LIMITS } from '../domain/limits.js';
import type { AcquireRequest } from '../domain/requests.js';
import type { Store } from '../stores/store.js';
import { INTERNAL_NAMESPACE } from './turn.js';

const OWNER = 'holdfast';

export class StoredNote {
  readonly #home: Store;
  readonly #name: string;
  readonly #clock: Clock;

  constructor(store: Store, topic: string, clock: Clock) {
    this.#home = store.within(INTERNAL_NAMESPACE);
    this.#name = `notes/namespace:${store.namespace}/${topic}`;
    this.#clock = clock;
  }

  /** Undefined when there is none. */
  async read(): Promise<unknown> {
    const { holders } = await this.#home.show(this.#name, 0);
    return holders.findLast((lease) => lease.owner === OWNER)?.metadata;
  }

  async write(metadata: Readonly<Record<string, unknown>>): Promise<void> {
    const { now } = await this.#home.time();
    const request: AcquireRequest = {
      id: makeId(now, this.#clock.randomText()),
      bornAt: now,
      owner: OWNER,
      parts: [{ name: this.#name, scope: 'node', mode: 'exclusive' }],
      ttlMs: LIMITS.ttlMs,
      priority: 0,
      join: false,
      holding: [],
      reclaim: true,
      maxRenewals: 0,
      minHoldMs: 0,
      lockDelayMs: 0,
      metadata,
      remote: true, // it belongs to no process of this machine, and outlives a restart of it
      callerWall: this.#clock.wall(),
    };
    // S15: whoever writes counts on it, and would add the same again to what had been written.
    const answer = await this.#home.acquire([request]).catch((error: unknown) => {
      if (!mayPass(error)) throw error;
      return this.#home.acquire([request]);
    });
    const [result] = answer.results;
    if (result?.outcome === 'granted') return;
    if (result?.outcome === 'failed') throw result.error;
    const said = result?.outcome ?? 'nothing';
    throw new LeaseError('STORE_UNAVAILABLE', `${this.#name} could not be written: the store answered ${said}`);
  }
}
