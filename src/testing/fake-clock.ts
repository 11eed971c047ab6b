// A clock that stands still until it is told to move. Timers fire in order of their time while it advances; randomness
// and ids come from a seed, so a test that fails once fails again.
import type { Clock, TimerHandle } from '../domain/clock.js';

interface Timer {
  readonly at: number;
  readonly order: number;
  readonly fn: () => void;
}

export class FakeClock implements Clock {
  #monotonic: number;
  #wall: number;
  #machine = 'fake-machine';
  #timers: Timer[] = [];
  #order = 0;
  #seed: number;

  constructor(options: { wall?: number; monotonic?: number; seed?: number } = {}) {
    this.#wall = options.wall ?? Date.UTC(2026, 0, 1);
    this.#monotonic = options.monotonic ?? 1_000_000;
    this.#seed = options.seed ?? 1;
  }

  monotonic = (): number => this.#monotonic;
  wall = (): number => this.#wall;
  machine = (): string => this.#machine;

  after = (ms: number, fn: () => void): TimerHandle => {
    this.#order += 1;
    const timer = { at: this.#monotonic + Math.max(0, ms), order: this.#order, fn };
    this.#timers.push(timer);
    return { cancel: () => void (this.#timers = this.#timers.filter((other) => other !== timer)) };
  };
  soon = (fn: () => void): void => queueMicrotask(fn);

  /** mulberry32: small, seeded, good enough for tests. */
  random = (): number => {
    this.#seed = (this.#seed + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#seed ^ (this.#seed >>> 15), 1 | this.#seed);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
  randomText = (): string => Array.from({ length: 20 }, () => Math.floor(this.random() * 36).toString(36)).join('');

  /** Both clocks move on together, firing what falls due on the way, each with its promises settled. */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonic + ms;
    for (let next = this.#nextBefore(end); next; next = this.#nextBefore(end)) {
      this.#move(Math.max(0, next.at - this.#monotonic));
      this.#timers = this.#timers.filter((timer) => timer !== next);
      next.fn();
      await settled();
    }
    this.#move(Math.max(0, end - this.#monotonic));
    await settled();
  }

  /** The wall clock is set; monotonic time does not notice. */
  stepWall(ms: number): void {
    this.#wall += ms;
  }
  /** Another boot, or another time namespace. */
  reboot(machine: string, monotonic: number): void {
    this.#machine = machine;
    this.#monotonic = monotonic;
  }
  get pendingTimers(): number {
    return this.#timers.length;
  }

  #move(ms: number): void {
    this.#monotonic += ms;
    this.#wall += ms;
  }
  #nextBefore(end: number): Timer | undefined {
    const due = this.#timers.filter((timer) => timer.at <= end);
    return due.sort((a, b) => a.at - b.at || a.order - b.order)[0];
  }
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
