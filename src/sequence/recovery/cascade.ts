// Recovery mode (V5): an overlay that is itself a lease of 30 s in the internal namespace, so that every process sees it and
// it ends with its owner. While it stands, leases of numbers live twice as long and batches of recovery are small and slow.
//
//   off ──more than the threshold expired in one sweep──▶ on ──three sweeps in a row under half of it──▶ off
//
// A client of a server whose token is not for everything may not look at it, and goes on as if it were off: the server's own recovery and its
// other clients see it. No call about it is waited for longer than a moment: whoever recovers has numbers claimed meanwhile (N3).
import type { TimerHandle } from '../../domain/clock.js';
import { LeaseError, mayPass } from '../../domain/errors.js';
import { makeId } from '../../domain/ids.js';
import type { AcquireRequest, EndRequest } from '../../domain/requests.js';
import type { Settings } from '../../domain/settings.js';
import type { Store } from '../../stores/store.js';
import type { SequenceLink } from '../sequence-link.js';
import type { Registry } from './registry.js';

export const INTERNAL_NAMESPACE = '_holdfast';
const OVERLAY_MS = 30_000;
const RENEW_MS = 10_000;
const LOOK_MS = 5_000;
const CALL_MS = 1_000;
const CALM_SWEEPS = 3;
/** So many sweep intervals without a sweep here mean that none runs here. */
const UNSWEPT_INTERVALS = 2;

/** The overlay of this process. */
interface Overlay {
  readonly id: string;
  readonly epoch: number;
  /** Monotonic: when it is over, unless a renewal is answered before. */
  endsAt: number;
}

export class Cascade {
  readonly #link: SequenceLink;
  readonly #registry: Registry;
  readonly #report: (error: unknown) => void;
  #isOn = false;
  #own: Overlay | undefined;
  #timer: TimerHandle | undefined;
  #calm = 0;
  /** When it was counted last how calm it is, and the most that looks have found since. */
  #countedAt = -Infinity;
  #worst = 0;
  #lookedAt = -Infinity;
  #looking: Promise<void> | undefined;
  /** Not for this client's token. */
  #isHidden = false;

  constructor(link: SequenceLink, registry: Registry, report: (error: unknown) => void) {
    this.#link = link;
    this.#registry = registry;
    this.#report = report;
  }

  get isOn(): boolean {
    return this.#isOn;
  }

  /** Twice as long in recovery mode, within the bounds of the settings. */
  async stretched(ttlMs: number): Promise<number> {
    await this.#look();
    if (!this.#isOn) return ttlMs;
    const { max_ttl_seconds: most } = await this.#link.manager.link.settings();
    return Math.max(ttlMs, Math.min(ttlMs * 2, Math.floor(most * 1_000)));
  }

  /** What a look at the backlog found. Where regular sweeps run, only they count how calm it is. */
  async observe(expired: number, settings: Settings, isSweep: boolean): Promise<void> {
    if (this.#isOn && !this.#own) await this.#look(); // the overlay of somebody else may be gone
    this.#worst = Math.max(this.#worst, expired);
    if (expired > settings.cascade_threshold) {
      this.#calm = 0;
      await this.#enter(expired);
    } else if (isSweep && this.#own) {
      await this.#count(expired, settings);
    }
  }

  async #count(expired: number, { cascade_threshold: threshold }: Settings): Promise<void> {
    this.#countedAt = this.#link.clock.monotonic();
    this.#worst = 0;
    this.#calm = expired < threshold / 2 ? this.#calm + 1 : 0;
    if (this.#calm >= CALM_SWEEPS) await this.leave();
  }
  /** The owner may be a process that does not sweep, with its services off: it goes by what it met in recovering. */
  async #countUnswept(): Promise<void> {
    const settings = await this.#link.manager.link.settings();
    const enoughMs = UNSWEPT_INTERVALS * settings.cleanup_interval_seconds * 1_000;
    if (this.#link.clock.monotonic() - this.#countedAt >= enoughMs) await this.#count(this.#worst, settings);
  }

  async #enter(expired: number): Promise<void> {
    if (this.#own || this.#isHidden) return;
    const granted = await this.#acquire().catch((error: unknown) => this.#failed(error));
    if (this.#isHidden) return;
    if (granted) {
      this.#own = granted;
      this.#calm = 0;
      this.#worst = 0;
      this.#countedAt = this.#link.clock.monotonic();
      this.#renewLater();
      this.#link.manager.announcer.observer.announce({
        type: 'cascade.entered',
        at: this.#link.manager.link.now(),
        owner: this.#link.owner,
        data: { expired },
      });
    }
    this.#become(true); // somebody else's overlay does as well
    this.#lookedAt = this.#link.clock.monotonic();
  }

  /** Harmless when it is not this process's overlay. */
  async leave(): Promise<void> {
    const own = this.#own;
    this.#timer?.cancel();
    this.#own = undefined;
    if (!own) return;
    const { clock } = this.#link;
    await this.#end({ id: own.id, epoch: own.epoch, requestId: clock.randomText(), why: 'released' });
    this.#become(false);
    this.#link.manager.announcer.observer.announce({
      type: 'cascade.left',
      at: this.#link.manager.link.now(),
      owner: this.#link.owner,
      data: {},
    });
  }

  get #home(): Store {
    return this.#link.manager.link.store.within(INTERNAL_NAMESPACE);
  }
  get #name(): string {
    return `cascade/namespace:${this.#link.manager.link.store.namespace}`;
  }

  async #acquire(): Promise<Overlay | undefined> {
    const { clock, owner } = this.#link;
    const { now } = await this.#within(this.#home.time());
    const request: AcquireRequest = {
      id: makeId(now, clock.randomText()),
      bornAt: now,
      owner,
      parts: [{ name: this.#name, scope: 'node', mode: 'exclusive' }],
      ttlMs: OVERLAY_MS,
      priority: 0,
      join: false,
      holding: [],
      reclaim: false,
      maxRenewals: -1,
      minHoldMs: 0,
      lockDelayMs: 0,
      remote: false,
      callerWall: clock.wall(),
    };
    const endsAt = clock.monotonic() + OVERLAY_MS;
    const answer = await this.#within(this.#home.acquire([request])).catch((error: unknown) => {
      const end = { id: request.id, requestId: clock.randomText(), why: 'cancelled' } as const;
      if (mayPass(error)) this.#end(end).catch(() => undefined); // it may have been granted (S15)
      throw error;
    });
    const [result] = answer.results;
    return result?.outcome === 'granted' ? { id: result.lease.id, epoch: result.lease.epoch, endsAt } : undefined;
  }

  /** What cannot be ended lapses with its ttl. Never rejects. */
  async #end(request: EndRequest): Promise<void> {
    await this.#within(this.#home.end([request])).catch((error: unknown) => this.#report(error));
  }

  #within<T>(answer: Promise<T>): Promise<T> {
    return this.#link.manager.link.within(CALL_MS, 'recovery mode', answer);
  }

  #renewLater(): void {
    this.#timer = this.#link.clock.after(RENEW_MS, () => {
      this.#renew().catch((error: unknown) => this.#report(error));
    });
  }

  async #renew(): Promise<void> {
    const own = this.#own;
    if (!own || this.#link.life.aborted) return;
    const { clock } = this.#link;
    const { id, epoch } = own;
    const sentAt = clock.monotonic();
    const request = { id, epoch, requestId: clock.randomText(), ttlMs: OVERLAY_MS, callerWall: clock.wall() };
    try {
      const [result] = (await this.#within(this.#home.renew([request]))).results;
      own.endsAt = result?.outcome === 'renewed' ? sentAt + OVERLAY_MS : 0;
      if (result?.outcome === 'renewed') await this.#countUnswept();
    } finally {
      if (this.#own === own) {
        if (own.endsAt > clock.monotonic()) this.#renewLater();
        else this.#own = undefined; // the next look says whether it is on
      }
    }
  }

  /** At most every 5 s; whoever asks meanwhile waits for the same look. */
  #look(): Promise<void> {
    const { clock } = this.#link;
    if (this.#own || this.#isHidden || clock.monotonic() - this.#lookedAt < LOOK_MS) return Promise.resolve();
    this.#looking ??= this.#ask().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }
  async #ask(): Promise<void> {
    try {
      const shown = await this.#within(this.#home.show(this.#name, 0));
      this.#become(shown.holders.length > 0);
    } catch (error) {
      this.#failed(error); // as it was known last
    }
    this.#lookedAt = this.#link.clock.monotonic();
  }

  #failed(error: unknown): undefined {
    this.#isHidden = error instanceof LeaseError && error.code === 'FORBIDDEN';
    if (!this.#isHidden) this.#report(error);
  }

  #become(on: boolean): void {
    if (this.#isOn === on) return;
    this.#isOn = on;
    this.#registry.tellCascade(on, this.#report);
  }
}
