// Everything that must be true after every event, and at moments in between.
import { OrphanChecks } from './check-orphans.js';
import { StoreChecks } from './check-store.js';
import { TrustChecks } from './check-trust.js';
import { WaitingChecks } from './check-waiting.js';
import type { Ledger } from './ledger.js';
import type { StoreView } from './store-view.js';
import type { World } from './world.js';

export class Invariants {
  readonly #world: World;
  readonly #store: StoreChecks;
  readonly #trust: TrustChecks;
  readonly #orphans: OrphanChecks;
  readonly #waiting: WaitingChecks;
  readonly #lookShare: number;
  /** Everything has healed: from here on nobody has an excuse. */
  #hasHealed = false;

  constructor(world: World, ledger: Ledger, view: StoreView, lookShare: number) {
    this.#world = world;
    this.#store = new StoreChecks(view);
    this.#trust = new TrustChecks(world, ledger, view);
    this.#orphans = new OrphanChecks(world, ledger, view);
    this.#waiting = new WaitingChecks(world, ledger, view, this.#store.standing);
    this.#lookShare = lookShare;
  }

  healed(): void {
    this.#hasHealed = true;
    this.#trust.healedAt = this.#world.now;
    this.#orphans.healedAt = this.#world.now;
  }

  check(): void {
    this.#store.check();
    this.#orphans.check();
    if (this.#hasHealed) this.#waiting.check();
    this.checkTime();
  }

  /** Between events only beliefs can become wrong: leases run out, nothing else happens. */
  checkTime(): void {
    if (this.#lookShare === 1 || this.#world.random.chance(this.#lookShare)) this.#trust.check();
  }

  instantsBefore(end: number): number[] {
    return this.#trust.instantsBefore(end);
  }
}
