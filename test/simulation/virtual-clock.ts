// What one process believes of time: a wall clock with an offset that may step, and a monotonic clock that runs a little
// fast or slow and stands still while the machine is suspended. Timers are as late and as early as Node's: they are set in
// whole milliseconds and may fire up to one before or after.
import type { Clock, TimerHandle } from '../../src/domain/clock.js';
import type { Random } from './random.js';
import { EPOCH_WALL_MS, type World, type WorldEvent } from './world.js';

const TIMER_EARLY_MS = 1;
/** Where clocks are read from numbers with fractions, this much is no difference. */
const GRAIN_MS = 1e-6;

export interface ClockTraits {
  /** How much faster than the true time, in parts per million. */
  readonly ppm: number;
  readonly wallOffsetMs: number;
  readonly monotonicStart: number;
  /** How late a timer may fire. */
  readonly lateMs: number;
  readonly hidesSleep: boolean;
}

/** Hands something to the process at a true time: it runs then, later if the process is paused, never if it is dead. */
export type Deliver = (at: number, run: () => void) => WorldEvent;

export class VirtualClock implements Clock {
  readonly #world: World;
  readonly #random: Random;
  readonly #deliver: Deliver;
  readonly #traits: ClockTraits;
  readonly #rate: number;
  readonly #machine: string;
  #wallSteps = 0;
  #suspended = 0;
  #suspendedSince: number | undefined;
  #pending = 0;

  constructor(world: World, traits: ClockTraits, deliver: Deliver, machine: string) {
    this.#world = world;
    this.#random = world.random.fork();
    this.#deliver = deliver;
    this.#traits = traits;
    this.#rate = 1 + traits.ppm / 1_000_000;
    this.#machine = machine;
  }

  monotonic = (): number => {
    const running = (this.#suspendedSince ?? this.#world.now) - this.#suspended;
    return this.#traits.monotonicStart + running * this.#rate;
  };
  wall = (): number => EPOCH_WALL_MS + this.#world.now * this.#rate + this.#traits.wallOffsetMs + this.#wallSteps;
  machine = (): string => this.#machine;
  random = (): number => this.#random.next();
  randomText = (): string => this.#random.text();

  soon = (run: () => void): void => {
    this.#deliver(this.#world.now, run);
  };

  after = (ms: number, run: () => void): TimerHandle => {
    const whole = Math.max(1, Math.ceil(ms));
    const slip = this.#random.chance(0.3) ? this.#random.between(-TIMER_EARLY_MS, this.#traits.lateMs) : 0;
    const due = this.monotonic() + whole + slip;
    let event: WorldEvent | undefined;
    const fire = (): void => {
      const left = due - this.monotonic();
      if (left > GRAIN_MS) return wait(left); // the machine slept meanwhile
      close();
      run();
    };
    const wait = (left: number): void => {
      event = this.#deliver(this.#world.now + left / this.#rate, fire);
    };
    const close = (): void => {
      if (!event) return;
      event.isOff = true;
      event = undefined;
      this.#pending -= 1;
    };
    this.#pending += 1;
    wait(due - this.monotonic());
    return { cancel: close };
  };

  stepWall(ms: number): void {
    this.#wallSteps += ms;
  }
  suspend(): void {
    this.#suspendedSince ??= this.#world.now;
  }
  resume(): void {
    if (this.#suspendedSince === undefined) return;
    const sleptMs = this.#world.now - this.#suspendedSince;
    this.#suspended += sleptMs;
    this.#suspendedSince = undefined;
    if (this.#traits.hidesSleep) this.#wallSteps -= sleptMs;
  }
  /** Timers that are set and have neither fired nor been stopped. */
  get pendingTimers(): number {
    return this.#pending;
  }
}

/** The clock of the store is the true time: it neither drifts nor steps, and the wall agrees with it. */
export function trueClock(world: World): Clock {
  const random = world.random.fork();
  return {
    monotonic: () => world.now,
    wall: () => EPOCH_WALL_MS + world.now,
    machine: () => 'store',
    after: () => ({ cancel: () => undefined }),
    soon: (run) => world.at(world.now, run),
    random: () => random.next(),
    randomText: () => random.text(),
  };
}
