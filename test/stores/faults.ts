// Faults a store may have, each put between the suite and a store that is right. A fault says which methods it replaces.
import type { AcquireRequest } from '../../src/domain/requests.js';
import { findCycles } from '../../src/domain/wait-graph.js';
import type { AcquireResult, Failed, Store } from '../../src/stores/store.js';

type Fault = (store: Store) => Partial<Store>;

/** The store with some of its methods replaced, in every namespace. */
export function withFault(fault: Fault, store: Store): Store {
  const replaced: Partial<Store> = {
    within: (namespace) => withFault(fault, store.within(namespace)),
    ...fault(store),
  };
  return new Proxy(store, {
    get: (target, key) => {
      if (key in replaced) return replaced[key as keyof Store];
      const value: unknown = Reflect.get(target, key, target);
      return typeof value === 'function' ? (value as (...args: unknown[]) => unknown).bind(target) : value;
    },
  });
}

/** Asks item by item, and lets `then` put another answer in the place of each. */
function eachAcquire(
  store: Store,
  then: (request: AcquireRequest, result: AcquireResult | Failed) => Promise<AcquireResult | Failed>,
): Store['acquire'] {
  return async (requests) => {
    const answers = await store.acquire(requests);
    const results: (AcquireResult | Failed)[] = [];
    for (const [i, result] of answers.results.entries()) results.push(await then(requests[i]!, result));
    return { ...answers, results };
  };
}

let freshIds = 0;
const freshId = (): string => `fresh-id-of-the-fault-${(freshIds += 1)}`;

async function tryAgain(store: Store, request: AcquireRequest, instead: Partial<AcquireRequest>) {
  const { now } = await store.time();
  const { results } = await store.acquire([{ ...request, bornAt: now, join: false, id: freshId(), ...instead }]);
  return results[0]!;
}

/** Epochs as they come out of a store that cannot keep all their digits; what goes in is translated back. */
function blurredEpochs(blur: (epoch: number) => number): Fault {
  return (store) => {
    const real = new Map<string, number>();
    const back = <R extends { id: string; epoch?: number | undefined }>(request: R): R => {
      const epoch = real.get(request.id);
      return epoch !== undefined && request.epoch === blur(epoch) ? { ...request, epoch } : request;
    };
    return {
      acquire: eachAcquire(store, async (_, result) => {
        if (result.outcome !== 'granted') return result;
        real.set(result.lease.id, result.lease.epoch);
        return { ...result, lease: { ...result.lease, epoch: blur(result.lease.epoch) } };
      }),
      renew: (requests) => store.renew(requests.map(back)),
      end: (requests) => store.end(requests.map(back)),
      change: (requests) => store.change(requests.map(back)),
    };
  };
}

/** By what is wrong; `breaks` is the rule of the contract whose cases must notice. */
export const faults: Readonly<Record<string, { breaks: string; fault: Fault }>> = {
  'release ignores the epoch': {
    breaks: 'S5',
    fault: (store) => ({
      end: async (requests) => {
        const { items } = await store.get(requests.map(({ id }) => id));
        return store.end(requests.map((one, i) => ({ ...one, epoch: items[i]?.epoch || one.epoch })));
      },
    }),
  },
  'a renewal revives an expired lease': {
    breaks: 'S4',
    fault: (store) => {
      const asked = new Map<string, AcquireRequest>();
      return {
        acquire: eachAcquire(store, async (request, result) => {
          asked.set(request.id, request);
          return result;
        }),
        renew: async (requests) => {
          const answers = await store.renew(requests);
          const results = [...answers.results];
          for (const [i, result] of results.entries()) {
            const request = asked.get(requests[i]!.id);
            if (result.outcome !== 'notHeld' || result.status !== 'expired' || !request) continue;
            const again = await tryAgain(store, request, {});
            if (again.outcome !== 'granted') continue;
            const { remainingMs, lease } = again;
            results[i] = { outcome: 'renewed', remainingMs, expiresAt: lease.expiresAt, renewals: 1 };
          }
          return { ...answers, results };
        },
      };
    },
  },
  'two grants get the same epoch': { breaks: 'S2', fault: blurredEpochs((epoch) => epoch - (epoch % 2)) },
  'epochs lose their last digits, as %.14g makes them': {
    breaks: 'S17',
    fault: blurredEpochs((epoch) => Number(epoch.toPrecision(14))),
  },
  'a repeated acquire is granted anew once the lease has ended': {
    breaks: 'S8',
    fault: (store) => ({
      acquire: eachAcquire(store, async (request, result) =>
        result.outcome === 'ended' ? tryAgain(store, request, {}) : result,
      ),
    }),
  },
  'a repeated acquire takes the lease a second time': {
    breaks: 'S8',
    fault: (store) => ({
      acquire: eachAcquire(store, async (request, result) =>
        result.outcome === 'granted' && result.again ? tryAgain(store, request, { reclaim: true }) : result,
      ),
    }),
  },
  'the last to come is served first': {
    breaks: 'Q1',
    fault: (store) => {
      const priorities = new Map<string, number>();
      const hurry = (request: AcquireRequest): AcquireRequest => {
        if (!priorities.has(request.id)) priorities.set(request.id, Math.min(100, priorities.size));
        return { ...request, priority: priorities.get(request.id)! };
      };
      return { acquire: (requests) => store.acquire(requests.map(hurry)) };
    },
  },
  'the end of an unknown id is not noted': {
    breaks: 'S8',
    fault: (store) => ({
      end: async (requests) => {
        const { items } = await store.get(requests.map(({ id }) => id));
        const known = requests.filter((_, i) => items[i] !== undefined);
        const answers = await store.end(known);
        const results = [...answers.results];
        return { ...answers, results: items.map((item) => (item ? results.shift()! : { outcome: 'noted' as const })) };
      },
    }),
  },
  'a refused set keeps the parts that were free': {
    breaks: 'S10',
    fault: (store) => ({
      acquire: eachAcquire(store, async (request, result) => {
        if (result.outcome !== 'refused' || request.parts.length < 2) return result;
        for (const part of request.parts) await tryAgain(store, request, { parts: [part] });
        return result;
      }),
    }),
  },
  'limits are ignored': {
    breaks: 'S1',
    fault: (store) => ({
      acquire: (requests) =>
        store.acquire(
          requests.map((one) => ({
            ...one,
            parts: one.parts.map(({ limit, ...part }) => (limit ? part : { ...part })),
          })),
        ),
    }),
  },
  'expiries are missing from the log': {
    breaks: 'S3',
    fault: (store) => ({
      events: async (query) => {
        const page = await store.events(query);
        if (page.outcome === 'lost') return page;
        return { ...page, rows: page.rows.filter(({ type }) => type !== 'lease.expired') };
      },
    }),
  },
  'a reader of the log misses the first row after its position': {
    breaks: 'H1',
    fault: (store) => ({
      events: async (query) => {
        const page = await store.events(query);
        return page.outcome === 'lost' || query.after === undefined ? page : { ...page, rows: page.rows.slice(1) };
      },
    }),
  },
  'a revocation hits whoever holds now': {
    breaks: 'A7',
    fault: (store) => ({ revoke: (order) => store.revoke({ ...order, upToEpoch: Number.MAX_SAFE_INTEGER }) }),
  },
  'minHold is forgotten at the release': {
    breaks: 'Q6',
    fault: (store) => ({
      acquire: (requests) =>
        store.acquire(requests.map((one) => ({ ...one, minHoldMs: one.minHoldMs > 0 ? 0 : one.minHoldMs }))),
    }),
  },
  'a ticket of any cycle is failed, whatever cycle the order names': {
    breaks: 'Q4',
    fault: (store) => ({
      failTicket: async ({ id, cycle }) => {
        const standing = findCycles(await store.waitGraph()).find((one) => one.some((ticket) => ticket.id === id));
        return store.failTicket({ id, cycle: standing?.map((ticket) => ticket.id) ?? cycle });
      },
    }),
  },
  'one bad item fails the whole batch': {
    breaks: 'S21',
    fault: (store) => ({
      acquire: eachAcquire(store, async (_, result) => {
        if (result.outcome === 'failed') throw result.error;
        return result;
      }),
    }),
  },
  'settings are applied key by key': {
    breaks: 'O4',
    fault: (store) => ({
      setSettings: async (changes) => {
        for (const [key, value] of Object.entries(changes)) await store.setSettings({ [key]: value });
        return store.settings();
      },
    }),
  },
  'nobody is woken': { breaks: 'Q3', fault: () => ({ subscribe: () => () => undefined }) },
  'the clock goes back now and then': {
    breaks: 'S13',
    fault: (store) => {
      let calls = 0;
      return {
        time: async () => {
          const reply = await store.time();
          calls += 1;
          return { ...reply, now: reply.now - (calls % 2) * 50 };
        },
      };
    },
  },
};
