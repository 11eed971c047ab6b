// One process of the simulation: a clock of its own, its own way to the store, and the handles and operations its actors
// have. Everything that runs in it comes through `deliver`, so that a stop is a stop: while it is paused nothing of it
// runs, and what fell due meanwhile runs late, in an order that only the seed knows.
import type { Holdfast } from '../../src/holdfast.js';
import type { Store } from '../../src/stores/store.js';
import type { Ledger } from './ledger.js';
import type { StoreView } from './store-view.js';
import { VirtualClock, type ClockTraits } from './virtual-clock.js';
import type { World, WorldEvent } from './world.js';

/** What fell due during a pause is worked off within this time. */
const CATCH_UP_MS = 2;

export type ProcessState = 'running' | 'paused' | 'crashed' | 'ended';

export class SimulatedProcess {
  readonly name: string;
  readonly owner: string;
  readonly clock: VirtualClock;
  readonly world: World;
  readonly ledger: Ledger;
  readonly view: StoreView;
  /** Documents of delegation that were addressed to it. */
  readonly inbox: { readonly document: string; readonly leaseId: string }[] = [];
  /** Its way to the store, once it is open. */
  store: Store | undefined;
  #leases: Holdfast | undefined;
  state: ProcessState = 'running';
  /** Its actors have come to the end of their programs. */
  isIdle = false;
  /** It was asked to shut down. */
  isEnding = false;
  /** True time since which it has run without a stop. */
  runningSince = 0;
  /** Overdue events that have not run yet. */
  #late = 0;
  #backlog: WorldEvent[] = [];

  constructor(world: World, ledger: Ledger, view: StoreView, name: string, owner: string, traits: ClockTraits) {
    this.world = world;
    this.ledger = ledger;
    this.view = view;
    this.name = name;
    this.owner = owner;
    this.clock = new VirtualClock(world, traits, (at, run) => this.deliver(at, run), `machine of ${name}`);
  }

  get isConnected(): boolean {
    return this.#leases !== undefined;
  }
  get leases(): Holdfast {
    if (!this.#leases) throw new Error(`${this.name} is not connected`);
    return this.#leases;
  }
  set leases(leases: Holdfast) {
    this.#leases = leases;
  }

  get isRunning(): boolean {
    return this.state === 'running';
  }
  /** Nothing is overdue: what a timer should have done by now, it has done. */
  get isCaughtUp(): boolean {
    return this.state === 'running' && this.#late === 0;
  }
  get isGone(): boolean {
    return this.state === 'crashed' || this.state === 'ended';
  }

  deliver(at: number, run: () => void, isLate = false): WorldEvent {
    const event = this.world.at(at, () => {
      if (isLate) this.#late -= 1;
      if (this.state === 'paused') this.#backlog.push(event);
      else if (this.state !== 'crashed') run();
    });
    return event;
  }

  /** SIGSTOP, or with `machine` a suspended machine, whose monotonic clock stands still. */
  pause(machine: boolean): void {
    if (this.state !== 'running') return;
    this.state = 'paused';
    if (machine) this.clock.suspend();
    this.world.tell(() => `${this.name} ${machine ? "'s machine is suspended" : 'is stopped'}`);
  }

  resume(): void {
    if (this.state !== 'paused') return;
    this.state = 'running';
    this.clock.resume();
    this.runningSince = this.world.now;
    const late = this.world.random.shuffled(this.#backlog.filter((event) => !event.isOff));
    this.#backlog = [];
    this.#late += late.length;
    this.world.tell(() => `${this.name} goes on, ${late.length} events late`);
    for (const event of late) {
      const run = (): void => {
        if (!event.isOff) event.run();
      };
      this.deliver(this.world.now + this.world.random.between(0, CATCH_UP_MS), run, true);
    }
  }

  /** SIGKILL: it never runs again. */
  crash(): void {
    if (this.isGone) return;
    this.state = 'crashed';
    this.#backlog = [];
    this.ledger.drop(this);
    this.world.tell(() => `${this.name} is killed`);
  }

  /** It was shut down. Whatever it still does afterwards is seen. */
  ended(): void {
    if (!this.isGone) this.state = 'ended';
  }

  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.clock.after(ms, resolve);
    });
  }
}
