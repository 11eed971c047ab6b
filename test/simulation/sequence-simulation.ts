// One seed of a world with a stream: processes write and read it while things go wrong, everything heals, writers finish,
// whatever is open is recovered, every reader comes to the end, and every commit that was answered is there.
import { join } from 'node:path';
import { connect } from '../../src/connect.js';
import type { Clock } from '../../src/domain/clock.js';
import { MemoryStore } from '../../src/stores/memory/index.js';
import { seenOf } from '../../src/testing/store-conformance/sequence/history.js';
import { FaultyNetwork, type Tamper } from './faulty-network.js';
import { Ledger } from './ledger.js';
import { heal, planMisfortunes, type Cast } from './misfortunes.js';
import { profileFrom, type Profile } from './profile.js';
import { SequenceActor, SequenceLedger } from './sequence-actors.js';
import { SequenceView, STREAM } from './sequence-view.js';
import { SimulatedProcess } from './simulated-process.js';
import { trueClock } from './virtual-clock.js';
import { servedWay, straightWay, type WayToStore } from './way-to-store.js';
import { Violation, World } from './world.js';

/** A claim whose recoverer died lives five minutes; then the next one takes it. */
const FINISH_MS = 1_200_000;
const SHUTDOWN_MS = 30_000;
/** Whoever takes the place of one that was killed has come by then. */
const REPLACED_MS = 2_000;

export interface SequenceSabotage {
  readonly profile?: Partial<Profile>;
  readonly tamper?: Tamper;
  readonly store?: (clock: Clock) => MemoryStore;
  /** Processes reach the store by HTTP, through a server. */
  readonly isServed?: boolean;
  /** A folder of this machine in which results wait that could not be stored (V7). */
  readonly spool?: string;
}

export class SequenceSimulation {
  readonly world: World;
  readonly ledger = new SequenceLedger();
  readonly #leases = new Ledger();
  readonly #view: SequenceView;
  readonly profile: Profile;
  readonly #network: FaultyNetwork;
  readonly #store: MemoryStore;
  readonly #processes: SimulatedProcess[] = [];
  readonly #way: WayToStore;
  readonly #isServed: boolean;
  readonly #spool: string | undefined;
  readonly #readers = new Map<SimulatedProcess, SequenceActor>();

  constructor(seed: number, sabotage: SequenceSabotage = {}) {
    this.world = new World(seed);
    this.profile = { ...profileFrom(this.world.random.fork()), ...sabotage.profile };
    const clock = trueClock(this.world);
    this.#store = sabotage.store?.(clock) ?? new MemoryStore({ clock });
    this.#view = new SequenceView(this.world, this.#store);
    this.#network = new FaultyNetwork(this.world, this.#view);
    this.#network.tamper = sabotage.tamper;
    this.#isServed = sabotage.isServed ?? false;
    this.#spool = sabotage.spool;
    this.world.waitsForDisk = this.#spool !== undefined;
    this.#way = (this.#isServed ? servedWay : straightWay)({
      world: this.world,
      store: this.#store,
      network: this.#network,
      witness: this.#view,
      hasSequences: true,
      makeProcess: (name) => this.#makeProcess(name, name),
    });
  }

  get grants(): number {
    return this.ledger.stored.length;
  }

  async run(): Promise<void> {
    const { world } = this;
    const profile = this.profile;
    for (let i = 1; i <= profile.processes; i += 1) this.#start(`owner-${i}`);
    await world.run(() => this.#processes.every((process) => process.isConnected), 5_000);
    this.#network.traits = profile.network;
    const cast = this.#cast();
    planMisfortunes(cast);
    this.#way.plan(profile);
    await world.run(() => false, world.now + profile.chaosMs);
    heal(cast);
    this.#way.heal();
    await world.run(() => false, world.now + REPLACED_MS);
    await world.run(() => this.#isWritten, world.now + FINISH_MS);
    if (!this.#isWritten) throw new Violation('A1: a writer has not come to its end');
    await this.#settleRest();
    if (this.#spool !== undefined) await this.#emptySpools();
    await world.run(() => this.#behind === undefined, world.now + FINISH_MS);
    this.#expectRead();
    this.ledger.isOver = true;
    for (const process of this.#processes) if (!process.isGone) this.#shutDown(process);
    await world.run(() => this.#processes.every(({ isGone }) => isGone), world.now + SHUTDOWN_MS);
    for (const { isGone, name } of this.#processes) if (!isGone) throw new Violation(`A9: ${name} is not shut down`);
    this.#expectStored();
  }

  #cast(): Cast {
    return {
      world: this.world,
      network: this.#network,
      profile: this.profile,
      processes: this.#processes,
      changeSettings: () => undefined,
      replace: ({ owner }, afterMs) => this.world.at(this.world.now + afterMs, () => this.#start(owner)),
      end: (process) => {
        if (process.isConnected) this.#shutDown(process);
      },
    };
  }

  #makeProcess(name: string, owner: string): SimulatedProcess {
    const { world } = this;
    const { random } = world;
    const traits = {
      ppm: random.between(-this.profile.ppm, this.profile.ppm),
      wallOffsetMs: random.pick([0, -40_000, 90_000]),
      monotonicStart: random.between(1_000, 1_000_000),
      lateMs: this.profile.timersLateMs,
      hidesSleep: this.profile.hidesSleep,
    };
    return new SimulatedProcess(world, this.#leases, this.#view, name, owner, traits);
  }

  #start(owner: string, steps = this.profile.steps): void {
    const process = this.#makeProcess(`p${this.#processes.length + 1}`, owner);
    this.#processes.push(process);
    this.#live(process, steps).catch((error: unknown) => this.world.fail(error));
  }

  async #live(process: SimulatedProcess, steps: number): Promise<void> {
    const { world, ledger } = this;
    const { random } = world;
    const services = random.chance(0.4) ? 'auto' : 'off';
    for (;;) {
      try {
        process.store ??= await this.#way.open(process);
        process.leases = await connect(process.store, { clock: process.clock, owner: process.owner, services });
        break;
      } catch (error) {
        world.tell(() => `${process.name} cannot connect: ${String(error)}`);
        await process.sleep(100);
      }
    }
    await process.sleep(random.between(0, 200)); // so that the first question may already get lost
    if (process.isEnding) {
      process.isIdle = true; // shut down before its first number: it is told so (A9)
      return;
    }
    const actor = new SequenceActor(process, ledger, this.#spoolOf(process.owner));
    if (steps === 0 || random.chance(0.5)) {
      this.#readers.set(process, actor);
      actor.follow().catch((error: unknown) => world.fail(error));
    }
    await actor.write(steps);
    world.tell(() => `${process.name} has written everything`);
    process.isIdle = true;
  }

  #spoolOf(owner: string): string | undefined {
    return this.#spool === undefined ? undefined : join(this.#spool, owner);
  }

  #shutDown(process: SimulatedProcess): void {
    process.isEnding = true;
    const end = async (): Promise<void> => {
      await process.leases.shutdown();
      if (this.#isServed) await process.store?.close(); // as connect does with a store that it has opened itself
    };
    end().then(
      () => process.ended(),
      (error: unknown) => this.world.fail(error),
    );
  }

  get #isWritten(): boolean {
    return this.#processes.every((process) => process.isIdle || process.isGone);
  }

  /** Somebody who comes last waits for the number that nobody has leased yet: it recovers what is open. */
  async #settleRest(): Promise<void> {
    const { world } = this;
    const { streams } = await this.#store.sequences.streams({ stream: STREAM, limit: 1 });
    const next = (streams[0]?.leased ?? 0) + 1;
    this.#start('last', 0);
    const last = this.#processes.at(-1) as SimulatedProcess;
    await world.run(() => last.isConnected, world.now + SHUTDOWN_MS);
    let isReached = next === 1;
    if (!isReached) {
      const wait = new SequenceActor(last, this.ledger).waitFor(next);
      wait.then(
        () => (isReached = true),
        (error: unknown) => world.fail(error),
      );
    }
    await world.run(() => isReached, world.now + FINISH_MS);
    if (!isReached) throw new Violation(`N3: nobody settles what is open: ${this.#view.watermark} of ${next - 1}`);
  }

  /** V7: what a writer was told to be in a spool is stored in the end, by whoever opens the folder next. */
  async #emptySpools(): Promise<void> {
    const { world, ledger } = this;
    const last = this.#processes.at(-1) as SimulatedProcess;
    const owners = new Set(this.#processes.map(({ owner }) => owner));
    for (const owner of owners) {
      const isManned = this.#processes.some(
        (process) => process.owner === owner && !process.isGone && !process.isEnding,
      );
      if (!isManned) last.leases.sequence(STREAM, { spool: this.#spoolOf(owner) ?? '' });
    }
    const missing = (): string | undefined => {
      const stored = new Set(this.#view.items.flatMap((one) => (one.operation === undefined ? [] : [one.operationId])));
      for (const operationId of ledger.spooled) if (!stored.has(operationId)) return operationId;
      return undefined;
    };
    await world.run(() => missing() === undefined, world.now + FINISH_MS);
    const lost = missing();
    if (lost !== undefined) throw new Violation(`V7: ${lost} was told to be in the spool, and is never stored`);
  }

  /** A reader that lives and has not come to the end. */
  get #behind(): SimulatedProcess | undefined {
    for (const [process, { read }] of this.#readers)
      if (!process.isGone && !process.isEnding && read < this.#view.watermark) return process;
    return undefined;
  }

  #expectRead(): void {
    const behind = this.#behind;
    if (behind) throw new Violation(`N5: the reader of ${behind.name} never comes to the end, ${this.#view.watermark}`);
  }

  #expectStored(): void {
    const { items } = this.#view;
    for (const [reader, seen] of this.ledger.seen) {
      for (const [i, one] of seen.entries()) {
        const [then, now] = [one, items[i] && seenOf(items[i])].map((shown) => JSON.stringify(shown));
        if (then !== now) throw new Violation(`N4: the ${reader} saw ${then}, and now it is ${now}`);
      }
    }
    for (const { operationId, number } of this.ledger.stored) {
      const found = items[number - 1];
      if (found?.operationId === operationId && found.operation !== undefined) continue;
      throw new Violation(
        `N2: ${operationId} was answered as committed at ${number}, where ${found?.state ?? 'nothing'} is`,
      );
    }
  }
}
