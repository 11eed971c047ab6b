// ensure (A3): the handle already held, without a store call; else one acquire, shared by all who ask for the same
// meanwhile, each by its own `wait` and `signal`:
//
//   nobody asks yet    → an acquire on the terms of this caller
//   somebody asks      → the same answer; a caller whose signal aborts leaves alone, and one whose wait is over first is told
//                        how the resource stands now
//   theirs came to nothing because they cancelled, or waited less long → asked again, for what is left of the own wait
import type { Clock } from '../domain/clock.js';
import { LeaseError, type LeaseErrorCode } from '../domain/errors.js';
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
    const held = this.#holds.named(resource);
    return held?.isHeld && isSame(held, resource, options) ? held : undefined;
  }

  async #askFor(resource: string, options: AcquireOptions): Promise<Hold> {
    const key = [resource, options.mode, options.scope, options.limit, options.owner].join('\n');
    const waitMs = parseWait(options.wait ?? 0);
    const endsAt = this.#clock.monotonic() + waitMs;
    for (let leftMs = waitMs; ; leftMs = Math.max(0, endsAt - this.#clock.monotonic())) {
      const others = this.#asked.get(key);
      if (!others) return this.#ask(key, resource, { ...options, wait: leftMs === Infinity ? 'forever' : leftMs });
      const hold = (await this.#shared(others, resource, options, endsAt)) ?? this.#held(resource, options);
      if (hold) return hold;
    }
  }

  #ask(key: string, resource: string, options: AcquireOptions & { wait: number | 'forever' }): Promise<Hold> {
    const hold = this.#acquire(resource, options).finally(() => {
      this.#asked.delete(key);
    });
    this.#asked.set(key, { hold, endsAt: this.#clock.monotonic() + parseWait(options.wait) });
    return hold;
  }

  /** Undefined when theirs came to nothing, and that says nothing about this caller. */
  async #shared(others: Asked, resource: string, options: AcquireOptions, endsAt: number): Promise<Hold | undefined> {
    const { signal } = options;
    const isShorter = endsAt < others.endsAt;
    try {
      const parts = partsOf(resource, options);
      const hold = await this.#orOwnEnd(others.hold, parts, isShorter ? endsAt : Infinity, signal);
      return hold ?? (await this.#acquire(resource, { ...options, wait: 0 }));
    } catch (error) {
      if (is(error, 'ACQUIRE_ABORTED') && !signal?.aborted) return undefined;
      if (is(error, 'ACQUIRE_TIMEOUT') && !isShorter && this.#clock.monotonic() < endsAt) return undefined;
      throw error;
    }
  }

  /** Undefined at `endsAt`. */
  #orOwnEnd(
    hold: Promise<Hold>,
    parts: readonly Part[],
    endsAt: number,
    signal: AbortSignal | undefined,
  ): Promise<Hold | undefined> {
    if (signal?.aborted) throw aborted(parts, signal.reason);
    return new Promise((resolve, reject) => {
      const leave = signal && onAbort(signal, () => settle(() => reject(aborted(parts, signal.reason))));
      const timer =
        endsAt === Infinity
          ? undefined
          : this.#clock.after(Math.max(0, endsAt - this.#clock.monotonic()), () => settle(() => resolve(undefined)));
      const settle = (how: () => void): void => {
        leave?.();
        timer?.cancel();
        how();
      };
      const theirs = (): void => settle(() => resolve(hold));
      hold.then(theirs, theirs);
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
