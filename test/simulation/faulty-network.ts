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
import type { StoreView } from './store-view.js';
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

export type Call = keyof port.Store | `sequence.${keyof SequenceStore}`;
/** Changes what a call answers: for tests that break something on purpose. */
export type Tamper = (call: Call, asked: readonly unknown[], answer: unknown, tookMs: number) => unknown;

/** Which requests get lost besides those that chance takes: for worlds with one misfortune. */
export type Loses = (call: Call, asked: readonly unknown[]) => boolean;

export class FaultyNetwork {
  readonly #world: World;
  readonly #view: StoreView;
  traits: NetworkTraits = CALM;
  tamper: Tamper | undefined;
  loses: Loses | undefined;
  frozenUntil = 0;
  readonly #cutUntil = new Map<SimulatedProcess, number>();

  constructor(world: World, view: StoreView) {
    this.#world = world;
    this.#view = view;
  }

  freeze(ms: number): void {
    this.frozenUntil = this.#world.now + Math.min(ms, LONGEST_FREEZE_MS);
    this.#world.tell(() => `the store stands still for ${Math.round(ms)} ms`);
  }
  cut(process: SimulatedProcess, ms: number): void {
    this.#cutUntil.set(process, this.#world.now + ms);
    this.#world.tell(() => `${process.name} is cut off for ${Math.round(ms)} ms`);
  }
  heal(): void {
    this.traits = CALM;
    this.frozenUntil = 0;
    this.#cutUntil.clear();
  }
  #isCut(process: SimulatedProcess): boolean {
    return (this.#cutUntil.get(process) ?? 0) > this.#world.now;
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
      if (fate.backMs === undefined || this.#isCut(process)) return fail(this.traits.givesUpMs, 'no answer came');
      process.deliver(world.now + fate.backMs, () => {
        const told = this.tamper ? (this.tamper(name, asked, reply, world.now - sent.at) as R) : reply;
        world.tell(() => `${process.name} hears: ${callText(name, asked)} → ${answerText(told)}`);
        this.#view.answered(process, name, asked, reply, sent.monotonic);
        resolve(told);
      });
    };
    world.tell(() => `${process.name} sends ${callText(name, asked)}`);
    this.#view.sent(process, name, asked);
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
    if (random.chance(this.traits.lostWakeShare) || this.#isCut(process)) return;
    const times = random.chance(this.traits.twiceWakeShare) ? 2 : 1;
    for (let i = 0; i < times; i += 1) process.deliver(this.#world.now + this.#delay(), tell);
  }

  #fate(process: SimulatedProcess, isDoomed: boolean): Fate {
    const { random } = this.#world;
    const t = this.traits;
    const isLost = random.chance(t.lostRequestShare) || isDoomed || this.#isCut(process);
    return {
      inMs: isLost ? undefined : this.#delay(),
      again: random.chance(t.twiceShare) ? this.#delay() : undefined,
      backMs: random.chance(t.lostReplyShare) ? undefined : this.#delay(),
      failsBefore: random.chance(t.failBeforeShare),
      failsAfter: random.chance(t.failAfterShare),
    };
  }

  #delay(): number {
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
    this.#view.changed(name, asked);
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
