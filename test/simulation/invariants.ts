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
  /** How much longer than straight to the store a request may take, also when all is well again. */
  readonly #slackMs: number;
  /** Everything has healed: from here on nobody has an excuse. */
  #healedAt = Infinity;

  constructor(
    world: World,
    ledger: Ledger,
    view: StoreView,
    { lookShare, slackMs }: { readonly lookShare: number; readonly slackMs: number },
  ) {
    this.#world = world;
    this.#store = new StoreChecks(view);
    this.#trust = new TrustChecks(world, ledger, view);
    this.#orphans = new OrphanChecks(world, ledger, view, slackMs);
    this.#waiting = new WaitingChecks(world, ledger, view, this.#store.standing);
    this.#slackMs = slackMs;
    this.#lookShare = lookShare;
  }

  healed(): void {
    this.#healedAt = this.#world.now + this.#slackMs;
    this.#trust.healedAt = this.#healedAt;
    this.#orphans.healedAt = this.#healedAt;
  }

  check(): void {
    this.#store.check();
    this.#orphans.check();
    if (this.#world.now >= this.#healedAt) this.#waiting.check();
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
