// ensure (A3): the handle already held, without a store call; else one acquire, shared by all who ask for the same
// meanwhile. Whoever cancels among them cancels nobody else's wish: the others ask again.
import { LeaseError } from '../domain/errors.js';
import { normaliseParts, sameParts } from '../domain/part.js';
import type { AcquireOptions } from './face.js';
import type { Hold } from './held-lease.js';
import type { Holds } from './holds.js';

type Acquire = (resource: string, options: AcquireOptions) => Promise<Hold>;

export class Ensuring {
  readonly #holds: Holds;
  readonly #acquire: Acquire;
  readonly #asked = new Map<string, Promise<Hold>>();

  constructor(holds: Holds, acquire: Acquire) {
    this.#holds = holds;
    this.#acquire = acquire;
  }

  ensure(resource: string, options: AcquireOptions): Promise<Hold> {
    const held = this.#holds.named(resource);
    if (held?.isHeld && isSame(held, resource, options)) return Promise.resolve(held);
    const key = `${resource}\n${options.mode ?? ''}\n${options.scope ?? ''}\n${options.limit ?? ''}`;
    const others = this.#asked.get(key);
    if (!others) return this.#ask(key, resource, options);
    return others.catch((error: unknown) => {
      if (!isAborted(error) || options.signal?.aborted) throw error;
      return this.ensure(resource, options);
    });
  }

  #ask(key: string, resource: string, options: AcquireOptions): Promise<Hold> {
    const asked = this.#acquire(resource, { ...options, wait: options.wait ?? 0 }).finally(() => {
      this.#asked.delete(key);
    });
    this.#asked.set(key, asked);
    return asked;
  }
}

function isSame({ parts }: Hold, resource: string, { mode, scope, limit }: AcquireOptions): boolean {
  const wanted = normaliseParts(resource, {
    ...(mode === undefined ? {} : { mode }),
    ...(scope === undefined ? {} : { scope }),
    ...(limit === undefined ? {} : { limit }),
  });
  return sameParts(parts, wanted);
}

function isAborted(error: unknown): boolean {
  return error instanceof LeaseError && error.code === 'ACQUIRE_ABORTED';
}
