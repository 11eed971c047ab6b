// The way of one process to the model: every call takes time in both directions, may get lost on the way in or on the way
// back, may fail before or after it had its effect, may arrive twice, and may overtake others. Wake-ups too.
//
// What is told to the process goes through `deliver`: a paused process hears nothing, a dead one never again. When the world
// has healed the same way is quick and sure.
import { LeaseError } from '../../src/domain/errors.js';
import type { SequenceStore } from '../../src/stores/sequence-store.js';
import type * as port from '../../src/stores/store.js';
import { CALM, LONGEST_FREEZE_MS, type NetworkTraits } from './profile.js';
import type { SimulatedProcess } from './simulated-process.js';
import { answerText, callText } from './words.js';
import type { World } from './world.js';

/** How a call fares. Undefined: it does not get so far. */
interface Fate {
  readonly inMs: number | undefined;
  readonly again: number | undefined;
  readonly backMs: number | undefined;
  readonly failsBefore: boolean;
  readonly failsAfter: boolean;
}

export type Call = keyof port.Store | `sequence.${keyof SequenceStore}` | 'http';
/** Changes what a call answers: for tests that break something on purpose. */
export type Tamper = (call: Call, asked: readonly unknown[], answer: unknown, tookMs: number) => unknown;

/** Which requests get lost besides those that chance takes: for worlds with one misfortune. */
export type Loses = (call: Call, asked: readonly unknown[]) => boolean;

/** Looks on: what a process sends, what acts on the store, what a process is answered. */
export interface Witness {
  sent(process: SimulatedProcess, call: Call, asked: readonly unknown[]): void;
  changed(call: Call, asked: readonly unknown[]): void;
  answered(process: SimulatedProcess, call: Call, asked: readonly unknown[], answer: unknown, sentAt: number): void;
}

/** A line that is cut: for what goes out, for what comes in, or for both. */
export type CutWay = 'both' | 'out' | 'in';

export class FaultyNetwork {
  readonly #world: World;
  readonly #witness: Witness;
  traits: NetworkTraits = CALM;
  tamper: Tamper | undefined;
  loses: Loses | undefined;
  frozenUntil = 0;
  readonly #cuts = { out: new Map<SimulatedProcess, number>(), in: new Map<SimulatedProcess, number>() };

  constructor(world: World, witness: Witness) {
    this.#world = world;
    this.#witness = witness;
  }

  freeze(ms: number): void {
    this.frozenUntil = this.#world.now + Math.min(ms, LONGEST_FREEZE_MS);
    this.#world.tell(() => `the store stands still for ${Math.round(ms)} ms`);
  }
  cut(process: SimulatedProcess, ms: number, way: CutWay = 'both'): void {
    if (way !== 'in') this.#cuts.out.set(process, this.#world.now + ms);
    if (way !== 'out') this.#cuts.in.set(process, this.#world.now + ms);
    const what = way === 'both' ? 'is cut off' : way === 'in' ? 'hears nothing' : 'is not heard';
    this.#world.tell(() => `${process.name} ${what} for ${Math.round(ms)} ms`);
  }
  heal(): void {
    this.traits = CALM;
    this.frozenUntil = 0;
    this.#cuts.out.clear();
    this.#cuts.in.clear();
  }
  isCut(process: SimulatedProcess, way: 'out' | 'in'): boolean {
    return (this.#cuts[way].get(process) ?? 0) > this.#world.now;
  }

  /** One call of the port. `act` is run when (and as often as) the request reaches the store. */
  call<R>(process: SimulatedProcess, name: Call, asked: readonly unknown[], act: () => Promise<R>): Promise<R> {
    const { promise, resolve, reject } = withResolvers<R>();
    const world = this.#world;
    const fate = this.#fate(process, this.loses?.(name, asked) ?? false);
    const sent = { at: world.now, monotonic: process.clock.monotonic() };
    const fail = (afterMs: number, why: string): void => {
      if (afterMs === Infinity) return;
      process.deliver(world.now + afterMs, () => {
        world.tell(() => `${process.name} hears that ${callText(name, asked)} failed: ${why}`);
        reject(new LeaseError('STORE_UNAVAILABLE', `${why}: try again`));
      });
    };
    const answer = (reply: R): void => {
      if (fate.failsAfter) return fail(fate.backMs ?? 0, 'the connection broke after it');
      if (fate.backMs === undefined || this.isCut(process, 'in')) return fail(this.traits.givesUpMs, 'no answer came');
      process.deliver(world.now + fate.backMs, () => {
        const told = this.tamper ? (this.tamper(name, asked, reply, world.now - sent.at) as R) : reply;
        world.tell(() => `${process.name} hears: ${callText(name, asked)} → ${answerText(told)}`);
        this.#witness.answered(process, name, asked, reply, sent.monotonic);
        resolve(told);
      });
    };
    world.tell(() => `${process.name} sends ${callText(name, asked)}`);
    this.#witness.sent(process, name, asked);
    if (fate.failsBefore) fail(fate.backMs ?? 0, 'the store could not be reached');
    else if (fate.inMs === undefined) fail(this.traits.givesUpMs, 'the request got lost');
    else {
      this.#arrive(process, fate.inMs, () => this.#reach(name, asked, act, answer, reject, 'arrives'));
      const again = fate.inMs + (fate.again ?? Infinity);
      if (again < Infinity) {
        this.#arrive(process, again, () => this.#reach(name, asked, act, ignore, ignore, 'arrives again'));
      }
    }
    return promise;
  }

  /** A hint to a process: late, lost, or twice. */
  hint(process: SimulatedProcess, tell: () => void): void {
    const { random } = this.#world;
    if (random.chance(this.traits.lostWakeShare) || this.isCut(process, 'in')) return;
    const times = random.chance(this.traits.twiceWakeShare) ? 2 : 1;
    for (let i = 0; i < times; i += 1) process.deliver(this.#world.now + this.delayMs(), tell);
  }

  #fate(process: SimulatedProcess, isDoomed: boolean): Fate {
    const { random } = this.#world;
    const t = this.traits;
    const isLost = random.chance(t.lostRequestShare) || isDoomed || this.isCut(process, 'out');
    return {
      inMs: isLost ? undefined : this.delayMs(),
      again: random.chance(t.twiceShare) ? this.delayMs() : undefined,
      backMs: random.chance(t.lostReplyShare) ? undefined : this.delayMs(),
      failsBefore: random.chance(t.failBeforeShare),
      failsAfter: random.chance(t.failAfterShare),
    };
  }

  /** How long a message takes now. */
  delayMs(): number {
    const { random } = this.#world;
    const { delayMs, slowShare, slowMs } = this.traits;
    return random.between(0.05, delayMs) + (random.chance(slowShare) ? random.between(0, slowMs) : 0);
  }

  /** Of what a process had sent when it was killed some still arrives. A store that stands still lets all wait. */
  #arrive(process: SimulatedProcess, inMs: number, reach: () => void): void {
    const world = this.#world;
    const isAlive = !process.isGone;
    world.at(world.now + inMs, () => {
      if (world.now < this.frozenUntil) return void world.at(this.frozenUntil + world.random.between(0, 1), reach);
      if (isAlive && process.state === 'crashed' && world.random.chance(0.5)) return;
      reach();
    });
  }

  #reach<R>(
    name: Call,
    asked: readonly unknown[],
    act: () => Promise<R>,
    answer: (reply: R) => void,
    refuse: (error: Error) => void,
    how: string,
  ): void {
    const reply = act();
    this.#witness.changed(name, asked);
    reply.then(
      (told) => {
        this.#world.tell(() => `  the store: ${callText(name, asked)} ${how} → ${answerText(told)}`);
        answer(told);
      },
      (error: unknown) => refuse(error as Error),
    );
  }
}

function ignore(): void {
  // Nobody waits for a second answer.
}

function withResolvers<R>(): { promise: Promise<R>; resolve: (value: R) => void; reject: (error: Error) => void } {
  let resolve: (value: R) => void = ignore;
  let reject: (error: Error) => void = ignore;
  const promise = new Promise<R>((yes, no) => {
    resolve = yes;
    reject = no;
  });
  return { promise, resolve, reject };
}
