// The store as services see it: every call has a time limit. A call that is never answered must not stop a service for the
// life of its process, nor hold up the shutdown that waits for it; what the call did is then unknown, and the next tick
// looks again.
import type { Clock } from '../domain/clock.js';
import { answerWithin } from '../manager/store-link.js';
import type { Store } from '../stores/store.js';

const CALL_TIMEOUT_MS = 10_000;
/** Not calls of the store: they answer at once, or wait for what is under way. */
const UNBOUNDED: ReadonlySet<PropertyKey> = new Set(['subscribe', 'close']);

export function boundedStore(store: Store, clock: Clock): Store {
  return new Proxy(store, {
    get: (target, key) => {
      const member: unknown = Reflect.get(target, key, target);
      if (typeof member !== 'function') return member;
      const call = (...args: unknown[]): unknown => Reflect.apply(member, target, args);
      if (key === 'within') return (namespace: string) => boundedStore(target.within(namespace), clock);
      if (UNBOUNDED.has(key)) return call;
      return (...args: unknown[]) =>
        answerWithin(clock, CALL_TIMEOUT_MS, String(key), call(...args) as Promise<unknown>);
    },
  });
}
