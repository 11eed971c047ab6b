// What this process holds, by name and all together, and how many were lost lately. A hold is in here from its grant until
// it is lost or let go, and at no other time.
import type { Clock } from '../domain/clock.js';
import { TurnoverMap } from '../domain/turnover-map.js';
import type { Hold } from './held-lease.js';

const HOUR_MS = 3_600_000;
const MAX_LOSSES = 20_000;

export class Holds implements Iterable<Hold> {
  readonly #clock: Clock;
  readonly #byId = new TurnoverMap<Hold>();
  /** Leases of one part: what `ensure` asks for. The latest of each name. */
  readonly #byName = new TurnoverMap<Hold>();
  /** Some name was held more than once: shared leases, which are looked through one by one. */
  #hasSeveral = false;
  #losses: number[] = [];

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#byId.size;
  }
  [Symbol.iterator](): Iterator<Hold> {
    return this.#byId.values();
  }

  add(hold: Hold): void {
    this.#byId.set(hold.id, hold);
    if (hold.parts.length !== 1) return;
    const name = hold.parts[0]?.name ?? '';
    this.#hasSeveral ||= this.#byName.get(name) !== undefined;
    this.#byName.set(name, hold);
  }

  /** False when it was gone already. */
  remove(hold: Hold): boolean {
    if (this.#byId.get(hold.id) !== hold) return false;
    this.#byId.take(hold.id);
    const name = hold.parts[0]?.name ?? '';
    if (this.#byName.get(name) === hold) this.#byName.take(name);
    if (this.#byId.size === 0) this.#hasSeveral = false;
    return true;
  }

  /** A one-part lease on exactly this name that suits. */
  named(name: string, suits: (hold: Hold) => boolean): Hold | undefined {
    const latest = this.#byName.get(name);
    if (latest && suits(latest)) return latest;
    if (!this.#hasSeveral) return undefined;
    for (const hold of this) if (hold.parts.length === 1 && hold.parts[0]?.name === name && suits(hold)) return hold;
    return undefined;
  }

  find(id: string): Hold | undefined {
    return this.#byId.get(id);
  }

  countLoss(): void {
    this.#losses.push(this.#clock.monotonic());
    if (this.#losses.length > MAX_LOSSES) this.#losses = this.#losses.slice(MAX_LOSSES / 2);
  }

  get lostLastHour(): number {
    const since = this.#clock.monotonic() - HOUR_MS;
    this.#losses = this.#losses.filter((at) => at > since);
    return this.#losses.length;
  }
}
