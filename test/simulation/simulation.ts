// One seed from beginning to end: processes connect, their actors work while things go wrong, everything heals, everybody
// must finish, nothing may be left in the store, and every process can be shut down.
import { connect, type ConnectOptions } from '../../src/connect.js';
import type { Clock } from '../../src/domain/clock.js';
import { TICKET_LIFE_MS } from '../../src/domain/limits.js';
import { MemoryStore } from '../../src/stores/memory/index.js';
import { Actor } from './actor.js';
import { FaultyNetwork, type Loses, type Tamper } from './faulty-network.js';
import { Invariants } from './invariants.js';
import { Ledger } from './ledger.js';
import { heal, planMisfortunes, type Cast } from './misfortunes.js';
import { profileFrom, type Profile } from './profile.js';
import { SimulatedProcess } from './simulated-process.js';
import { runProgram } from './steps.js';
import { StoreView } from './store-view.js';
import { trueClock } from './virtual-clock.js';
import { servedWay, straightWay, type WayToStore } from './way-to-store.js';
import { LONGEST_TURN_MS } from './wishes.js';
import { Violation, World } from './world.js';

/** After the healing everybody with a finite program must come to an end within this time. */
const FINISH_MS = 240_000;
/** Tickets live ten seconds, leases two, and those of turns in a line as long as they may: then nothing is left. */
const QUIET_MS = 15_000;
const QUIET_AFTER_TURNS_MS = TICKET_LIFE_MS + LONGEST_TURN_MS + 5_000;
const SHUTDOWN_MS = 20_000;
const DRAIN_MS = 500;
/** What was asked before the healing and got lost keeps its place among the requests of the HTTP store for five seconds. */
const SERVED_SLACK_MS = 6_000;

/** What a test may break on purpose. */
export interface Sabotage {
  readonly profile?: Partial<Profile>;
  readonly tamper?: Tamper;
  readonly loses?: Loses;
  readonly store?: (clock: Clock) => MemoryStore;
  /** Processes reach the store by HTTP, through a server. */
  readonly isServed?: boolean;
}

export class Simulation {
  readonly world: World;
  readonly ledger = new Ledger();
  readonly view: StoreView;
  readonly profile: Profile;
  readonly network: FaultyNetwork;
  readonly #store: MemoryStore;
  readonly #processes: SimulatedProcess[] = [];
  readonly #cast: Cast;
  readonly #invariants: Invariants;
  readonly #way: WayToStore;
  readonly #isServed: boolean;
  /** Processes that are about to start in the place of others. */
  #toCome = 0;

  constructor(seed: number, sabotage: Sabotage = {}) {
    this.world = new World(seed);
    this.profile = { ...profileFrom(this.world.random.fork()), ...sabotage.profile };
    const clock = trueClock(this.world);
    this.#store = sabotage.store?.(clock) ?? new MemoryStore({ clock });
    this.view = new StoreView(this.world, this.#store);
    this.network = new FaultyNetwork(this.world, this.view);
    this.network.tamper = sabotage.tamper;
    this.network.loses = sabotage.loses;
    const { isServed = false } = sabotage;
    this.#isServed = isServed;
    this.#invariants = new Invariants(this.world, this.ledger, this.view, {
      lookShare: this.profile.lookShare,
      slackMs: isServed ? SERVED_SLACK_MS : 0,
    });
    this.world.check = () => this.#invariants.check();
    this.world.checkTime = () => this.#invariants.checkTime();
    this.world.instantsBefore = (end) => this.#invariants.instantsBefore(end);
    this.#cast = {
      world: this.world,
      network: this.network,
      profile: this.profile,
      processes: this.#processes,
      changeSettings: () => this.#changeSettings(),
      replace: (killed, afterMs) => this.#replace(killed, afterMs),
      end: (process) => {
        if (process.isConnected) this.#shutDown(process);
      },
    };
    this.#way = (isServed ? servedWay : straightWay)({
      world: this.world,
      store: this.#store,
      network: this.network,
      witness: this.view,
      hasSequences: false,
      makeProcess: (name) => this.#makeProcess(name, name),
    });
  }

  get grants(): number {
    return this.ledger.granted;
  }

  async run(): Promise<void> {
    const { world, network, profile } = this;
    for (let i = 1; i <= profile.processes; i += 1) this.#start(`owner-${i}`, profile.actors);
    await world.run(() => this.#processes.every((process) => process.isConnected), 5_000);
    network.traits = profile.network;
    planMisfortunes(this.#cast);
    this.#way.plan(profile);
    await world.run(() => false, world.now + profile.chaosMs);
    heal(this.#cast);
    this.#way.heal();
    this.#invariants.healed();
    await world.run(() => this.#isIdle, world.now + FINISH_MS);
    this.#expectFinished();
    await world.run(() => false, world.now + this.#quietMs);
    this.#expectNothingLeft();
    for (const process of this.#processes) if (process.isRunning && process.isConnected) this.#shutDown(process);
    await world.run(() => this.#isIdle, world.now + SHUTDOWN_MS);
    this.#expectFinished();
    await world.run(() => false, world.now + QUIET_MS);
    this.#expectNoTimers();
  }

  #makeProcess(name: string, owner: string): SimulatedProcess {
    const { world, profile } = this;
    const { random } = world;
    return new SimulatedProcess(world, this.ledger, this.view, name, owner, {
      ppm: random.between(-profile.ppm, profile.ppm),
      wallOffsetMs: random.pick([0, 0, -40_000, 90_000]) * random.next(),
      monotonicStart: random.between(1_000, 1_000_000),
      lateMs: profile.timersLateMs,
      hidesSleep: profile.hidesSleep,
    });
  }

  #replace({ owner }: SimulatedProcess, afterMs: number): void {
    this.#toCome += 1;
    this.world.at(this.world.now + afterMs, () => {
      this.#toCome -= 1;
      this.#start(owner, 1);
    });
  }

  #start(owner: string, actors: number): void {
    const process = this.#makeProcess(`p${this.#processes.length + 1}`, owner);
    this.#processes.push(process);
    this.#live(process, actors).catch((error: unknown) => this.world.fail(error));
  }

  async #live(process: SimulatedProcess, actors: number): Promise<void> {
    const { world, profile } = this;
    const { random } = world;
    const options: ConnectOptions = {
      clock: process.clock,
      owner: process.owner,
      services: random.chance(profile.servicesShare) ? 'auto' : 'off',
      ...(random.chance(0.3) ? { requestTimeout: random.whole(15, 25) } : {}),
      ...(random.chance(0.3) ? { renewAt: random.pick([0.3, 0.5]) } : {}),
      // A tenth of these ttls is longer than anybody may go on waiting here after the end of a wait.
      ...(profile.turnsShare > 0 ? { requestTimeout: 20 } : {}),
    };
    for (;;) {
      try {
        process.store ??= await this.#way.open(process);
        process.leases = await connect(process.store, options);
        break;
      } catch (error) {
        world.tell(() => `${process.name} cannot connect: ${String(error)}`);
        await process.sleep(100);
      }
    }
    world.tell(() => `${process.name} is connected as ${process.owner}`);
    const programs = Array.from({ length: actors }, () => runProgram(new Actor(process), profile, this.#processes));
    await Promise.all(programs);
    world.tell(() => `${process.name} has done its work`);
    process.isIdle = true;
  }

  #changeSettings(): void {
    this.world.tell(() => 'somebody changes a setting');
    this.#store.setSettings({ cascade_threshold: 11 }).catch((error: unknown) => this.world.fail(error));
  }

  #shutDown(process: SimulatedProcess): void {
    const drain = this.world.random.chance(0.5) ? { drain: DRAIN_MS } : {};
    const actor = new Actor(process);
    actor
      .ask(
        'shutdown',
        SHUTDOWN_MS,
        undefined,
        async () => {
          await process.leases.shutdown(drain);
          if (this.#isServed) await process.store?.close(); // as connect does with a store that it has opened itself
        },
        () => 'shut down',
      )
      .then(() => process.ended())
      .catch((error: unknown) => this.world.fail(error));
  }

  get #quietMs(): number {
    return this.profile.turnsShare > 0 ? QUIET_AFTER_TURNS_MS : QUIET_MS;
  }
  get #isIdle(): boolean {
    return (
      this.ledger.pending.size === 0 &&
      this.#toCome === 0 &&
      this.#processes.every((process) => process.isIdle || process.state === 'crashed')
    );
  }

  #expectFinished(): void {
    for (const { process, what, key } of this.ledger.pending) {
      throw new Violation(`A1: ${process.name} never finished ${what} (${key})`);
    }
    if (!this.#isIdle) throw new Violation('A1: somebody has not done its work');
  }

  #expectNothingLeft(): void {
    for (const { id, status, owner, expiresAt } of this.view.standing.values()) {
      if (this.view.now >= expiresAt) continue;
      throw new Violation(`S9: ${status} ${id.slice(-5)} of ${owner} is left when all work is done`);
    }
  }

  #expectNoTimers(): void {
    for (const process of this.#processes) {
      const { pendingTimers } = process.clock;
      if (process.state === 'crashed' || pendingTimers === 0) continue;
      throw new Violation(`A9: ${process.name} was shut down and has ${pendingTimers} timers`);
    }
  }
}
