// ensure (A3): the handle already held, without a store call; else one acquire, shared by all who ask for the same
// meanwhile, each by its own `wait` and `signal`:
//
//   nobody asks yet    → an acquire on the terms of this caller
//   somebody asks      → the same answer; a caller whose signal aborts leaves alone, and one whose wait is over first is told
//                        how the resource stands now
//   theirs came to nothing because they cancelled, or waited less long → asked again, for what is left of the own wait
import type { Clock } from '../domain/clock.js';
import { LeaseError, mayPass, type LeaseErrorCode } from '../domain/errors.js';
import { normaliseParts, sameParts, type Part } from '../domain/part.js';
import type { AcquireOptions } from './face.js';
import type { Hold } from './held-lease.js';
import type { Holds } from './holds.js';
import { onAbort } from './on-abort.js';
import { parseWait } from './plan.js';
import { aborted } from './refusals.js';

type Acquire = (resource: string, options: AcquireOptions) => Promise<Hold>;

interface Asked {
  readonly hold: Promise<Hold>;
  readonly endsAt: number;
  /** Who else is told when it ends; one who leaves before is forgotten. */
  readonly waiting: Set<() => void>;
}

export class Ensuring {
  readonly #clock: Clock;
  readonly #holds: Holds;
  readonly #acquire: Acquire;
  readonly #asked = new Map<string, Asked>();

  constructor(clock: Clock, holds: Holds, acquire: Acquire) {
    this.#clock = clock;
    this.#holds = holds;
    this.#acquire = acquire;
  }

  ensure(resource: string, options: AcquireOptions): Promise<Hold> {
    const held = this.#held(resource, options);
    return held ? Promise.resolve(held) : this.#askFor(resource, options);
  }

  #held(resource: string, options: AcquireOptions): Hold | undefined {
    return this.#holds.named(resource, (hold) => hold.isHeld && isSame(hold, resource, options));
  }

  async #askFor(resource: string, options: AcquireOptions): Promise<Hold> {
    const key = [resource, options.mode, options.scope, options.limit, options.owner].join('\n');
    const waitMs = parseWait(options.wait ?? 0);
    const endsAt = this.#clock.monotonic() + waitMs;
    for (let leftMs = waitMs; ; leftMs = Math.max(0, endsAt - this.#clock.monotonic())) {
      const others = this.#asked.get(key);
      if (!others) return this.#ask(key, resource, { ...options, wait: leftMs === Infinity ? 'forever' : leftMs });
      const isShorter = endsAt < others.endsAt;
      const isOver = await this.#isOverBefore(
        others,
        partsOf(resource, options),
        isShorter ? endsAt : Infinity,
        options,
      );
      if (isOver) return this.#askNow(`${key}\nnow`, resource, options);
      const hold = await others.hold.catch((error: unknown) => this.#passOver(error, endsAt));
      if (hold?.isHeld) return hold;
      const held = this.#held(resource, options);
      if (held) return held;
    }
  }

  /** How it stands, for all whose wait is over now. */
  async #askNow(key: string, resource: string, options: AcquireOptions): Promise<Hold> {
    for (;;) {
      const others = this.#asked.get(key);
      if (!others) return this.#ask(key, resource, { ...options, wait: 0 });
      const hold = await others.hold.catch((error: unknown) => this.#passOver(error, -Infinity));
      if (hold?.isHeld) return hold;
    }
  }

  /** One acquire for all who ask under this key. It may be refused because this process holds the very lease meanwhile. */
  #ask(key: string, resource: string, options: AcquireOptions & { wait: number | 'forever' }): Promise<Hold> {
    const hold = this.#acquire(resource, options)
      .catch((error: unknown) => {
        const held = is(error, 'ACQUIRE_TIMEOUT') ? this.#held(resource, options) : undefined;
        if (held) return held;
        throw error;
      })
      .finally(() => this.#asked.delete(key));
    const asked: Asked = { hold, endsAt: this.#clock.monotonic() + parseWait(options.wait), waiting: new Set() };
    const settled = (): void => asked.waiting.forEach((tell) => tell());
    hold.then(settled, settled);
    this.#asked.set(key, asked);
    return hold;
  }

  /** Undefined where what went wrong says nothing about another caller; else it is theirs too. */
  #passOver(error: unknown, endsAt: number): undefined {
    if (is(error, 'ACQUIRE_ABORTED') || is(error, 'INVALID_ARGUMENT')) return undefined;
    if (mayPass(error) && this.#clock.monotonic() < endsAt) return undefined;
    throw error;
  }

  /** Whether `endsAt` comes before the end of what the others asked. Rejects when the own signal is the first to come. */
  #isOverBefore(
    { waiting }: Asked,
    parts: readonly Part[],
    endsAt: number,
    { signal }: AcquireOptions,
  ): Promise<boolean> {
    if (signal?.aborted) throw aborted(parts, signal.reason);
    const leftMs = endsAt - this.#clock.monotonic();
    if (leftMs <= 0) return Promise.resolve(true);
    return new Promise((resolve, reject) => {
      const leave = signal && onAbort(signal, () => settle(() => reject(aborted(parts, signal.reason))));
      const timer = leftMs === Infinity ? undefined : this.#clock.after(leftMs, () => settle(() => resolve(true)));
      const settle = (how: () => void): void => {
        waiting.delete(theirs);
        leave?.();
        timer?.cancel();
        how();
      };
      const theirs = (): void => settle(() => resolve(false));
      waiting.add(theirs);
    });
  }
}

function partsOf(resource: string, { mode, scope, limit }: AcquireOptions): readonly Part[] {
  return normaliseParts(resource, {
    ...(mode === undefined ? {} : { mode }),
    ...(scope === undefined ? {} : { scope }),
    ...(limit === undefined ? {} : { limit }),
  });
}

function isSame(hold: Hold, resource: string, options: AcquireOptions): boolean {
  const isOwn = options.owner === undefined || options.owner === hold.owner;
  return isOwn && sameParts(hold.parts, partsOf(resource, options));
}

function is(error: unknown, code: LeaseErrorCode): boolean {
  return error instanceof LeaseError && error.code === code;
}
