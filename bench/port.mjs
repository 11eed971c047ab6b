// A store at the level of the port, through batching: complete requests, one item at a time, as the manager would ask, but
// without a manager. What comes back is checked, so that a figure never stands for work that was refused.
import { setTimeout as delay } from 'node:timers/promises';
import { Batching, makeId, systemClock } from '../dist/index.js';

const OWNER = 'bench-1-abcdef';
const BATCH = 256;
const FILLERS = 4;
const FILL_TRIES = 60;
export const clock = systemClock();

export class Port {
  static async over(store) {
    const port = new Port();
    port.store = store;
    port.batching = new Batching(store, clock);
    port.now = (await store.time()).now;
    port.requests = 0;
    return port;
  }

  request(name, ttlMs = 30_000) {
    return {
      id: makeId(this.now, clock.randomText()),
      bornAt: this.now,
      owner: OWNER,
      parts: [{ name, scope: 'node', mode: 'exclusive' }],
      ttlMs,
      priority: 0,
      join: false,
      holding: [],
      upgrades: undefined,
      reclaim: false,
      maxRenewals: -1,
      maxHoldMs: undefined,
      minHoldMs: 0,
      lockDelayMs: 0,
      operationId: undefined,
      metadata: undefined,
      remote: false,
      callerWall: clock.wall(),
    };
  }

  pair(i) {
    return this.pairOn(`bench/${i % 1_000}`);
  }

  async take(name, ttlMs) {
    const { now, result } = await this.batching.acquire(this.request(name, ttlMs));
    this.now = now;
    if (result.outcome !== 'granted') throw new Error(`${name}: ${result.outcome}`);
    return result.lease;
  }

  async pairOn(name) {
    const { id, epoch } = await this.take(name);
    this.requests += 1;
    const ended = await this.batching.end({ id, epoch, requestId: `r${this.requests}`, why: 'released' });
    if (ended.result.outcome !== 'released') throw new Error(`${name}: ${ended.result.outcome}`);
  }

  /** Joins the line, is handed what it waits for, or is woken and claims: as a manager would ask. */
  async lock(name) {
    this.wakeUps ??= this.#hearWakeUps();
    const request = { ...this.request(`port/${name}`), owner: `${OWNER}-${process.pid}`, join: true, handOver: true };
    const { id } = request;
    const woken = () =>
      new Promise((resolve) => {
        this.wakeUps.set(id, resolve);
      });
    for (let turn = woken(); ; turn = woken()) {
      const { now, result } = await this.batching.acquire(request);
      this.now = now;
      const lease = result.outcome === 'granted' ? result.lease : await turn;
      if (!lease) continue;
      this.wakeUps.delete(id);
      const { epoch } = lease;
      return { release: () => this.batching.end({ id, epoch, requestId: id, why: 'released' }) };
    }
  }

  #hearWakeUps() {
    const wakeUps = new Map();
    this.store.subscribe({
      wake: (ids) => ids.forEach((id) => wakeUps.get(id)?.()),
      handedOver: (lease) => wakeUps.get(lease.id)?.(lease),
    });
    return wakeUps;
  }

  /** Leases that stand for as long as the benchmark lasts, in full batches, a few at a time. */
  async fill(count, ttlMs = 24 * 3_600_000) {
    let next = 0;
    const filler = async () => {
      while (next < count) {
        const at = next;
        next += BATCH;
        await this.#fillOne(at, Math.min(BATCH, count - at), ttlMs);
      }
    };
    await Promise.all(Array.from({ length: FILLERS }, filler));
  }

  async #fillOne(at, size, ttlMs) {
    const name = (i) => `fill/${Math.floor((at + i) / 1_000)}/${at + i}`;
    const requests = Array.from({ length: size }, (_, i) => this.request(name(i), ttlMs));
    const { results, now } = await this.#patiently(requests);
    this.now = now;
    const bad = results.find((result) => result.outcome !== 'granted');
    if (bad) throw new Error(`filling failed: ${bad.outcome} ${bad.error?.message ?? ''}`);
  }

  /** A store that is too busy to answer is asked the same again: the ids are the same, so nothing is granted twice (S8). */
  async #patiently(requests) {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.store.acquire(requests);
      } catch (error) {
        if (!error.retryable || tries === FILL_TRIES) throw error;
        await delay(1_000);
      }
    }
  }

  close() {
    return this.store.close();
  }
}

/** `count` pairs by so many callers at once; names never meet while there are fewer callers than names. */
export async function inParallel(count, callers, pair) {
  let next = 0;
  const caller = async () => {
    while (next < count) {
      next += 1;
      await pair(next);
    }
  };
  await Promise.all(Array.from({ length: callers }, caller));
}
