// Hints over HTTP (Q3): a wake-up goes by the event stream and may be there before the answer to the question it is about.
import { afterEach, expect, test } from 'vitest';
import { openHttp } from '../../src/stores/http/index.js';
import { MemoryStore } from '../../src/stores/memory/index.js';
import { systemClock } from '../../src/system-clock.js';
import { FaultyStore } from '../../src/testing/faulty-store.js';
import { acquire, ask, grant } from '../support/ask.js';
import { serveStore } from '../support/http-harness.js';

const clock = systemClock();
const endings: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const ending of endings.splice(0).reverse()) await ending();
});

test('Q3, W2: a wake-up that overtakes the answer to its own question is passed on and heard', async () => {
  const truth = new MemoryStore({ clock });
  const behind = new FaultyStore(truth, clock);
  const server = await serveStore(behind);
  endings.push(() => server.close());
  const store = await openHttp(`http://127.0.0.1:${server.port}`, { clock });
  endings.push(() => store.close());
  const woken: string[] = [];
  store.subscribe({ wake: (ids) => void woken.push(...ids) });
  const [first, second] = [await grant(truth, clock, 'a'), await grant(truth, clock, 'b')];
  const free = ({ id, epoch }: typeof first) =>
    truth.end([{ id, epoch, requestId: clock.randomText(), why: 'released' }]);
  const known = await ask(truth, clock, 'a', { join: true });
  await acquire(store, known);
  await expect.poll(() => woken).toEqual([known.id]); // the stream is heard from now on
  await free(first);
  await expect.poll(() => woken).toEqual([known.id, known.id]);

  const request = await ask(truth, clock, 'b', { join: true });
  behind.order({ calls: 'acquire', replyMs: 1_000 });
  let isAnswered = false;
  const asked = acquire(store, request).then((answer) => {
    isAnswered = true;
    return answer;
  });
  await expect.poll(async () => (await truth.get([request.id])).items[0]?.status).toBe('pending');
  await free(second);
  await expect.poll(() => woken).toEqual([known.id, known.id, request.id]);
  expect(isAnswered).toBe(false);
  expect(await asked).toMatchObject({ outcome: 'queued' });
});

test('S7, Q1, W2: nobody claims for who asks over HTTP, and who lets go over HTTP is not told whom it claimed for', async () => {
  const truth = new MemoryStore({ clock });
  const server = await serveStore(truth);
  endings.push(() => server.close());
  const store = await openHttp(`http://127.0.0.1:${server.port}`, { clock });
  endings.push(() => store.close());
  const later = async (bornAt: number): Promise<void> =>
    expect.poll(async () => (await truth.time()).now).toBeGreaterThan(bornAt + 1);
  const held = await grant(truth, clock, 'a');
  const remote = await ask(truth, clock, 'a', { join: true, handOver: true });
  await acquire(store, remote);
  await later(remote.bornAt);
  const end = { requestId: clock.randomText(), why: 'released' } as const;
  const released = { outcome: 'released', again: false, blockedMs: 0 };
  expect((await truth.end([{ id: held.id, epoch: held.epoch, ...end }])).results).toEqual([released]);
  const { lease } = (await acquire(store, remote)) as { readonly lease: typeof held };
  const beside = await ask(truth, clock, 'a', { join: true, handOver: true });
  await acquire(truth, beside);
  await later(beside.bornAt);
  expect((await store.end([{ id: lease.id, epoch: lease.epoch, ...end }])).results).toEqual([released]);
  expect((await truth.get([beside.id])).items).toMatchObject([{ status: 'active', epoch: lease.epoch + 1 }]);
});
