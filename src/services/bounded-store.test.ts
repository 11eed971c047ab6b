// The store of the services: the same answers, and none that is waited for without end.
import { expect, test } from 'vitest';
import { MemoryStore } from '../stores/memory/index.js';
import { FakeClock } from '../testing/fake-clock.js';
import { boundedStore } from './bounded-store.js';

test('O1 S15: a store call that is never answered fails after its time limit', async () => {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  store.sweep = () => Promise.race([]); // never
  const bounded = boundedStore(store, clock);
  const swept = bounded.sweep({ limit: 1 }).catch((error: unknown) => error);
  await clock.advance(10_000);
  expect(await swept).toMatchObject({ code: 'STORE_UNAVAILABLE', details: { timedOut: true } });
  expect(clock.pendingTimers).toBe(0);
});

test('O1: what is answered in time is answered as the store does, in other namespaces too', async () => {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const bounded = boundedStore(store, clock);
  expect(bounded.namespace).toBe('default');
  expect((await bounded.time()).epoch).toBe((await store.time()).epoch);
  expect(bounded.within('other').namespace).toBe('other');
  expect((await bounded.within('other').settings()).settingsVersion).toBe(1);
  expect(clock.pendingTimers).toBe(0);
});
