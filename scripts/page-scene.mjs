// Something to look at: node scripts/page-scene.mjs STORE [busy]. Workers, agents and readers hold, renew and wait in this store; some of
// them have died, one stream has a gap and something for a person. Says `ready` when all of it stands, and goes on until it is
// killed; `busy` lets short work come and go all the time. The pictures of the documents and the tests of the page look at it.

import { setTimeout as delay } from 'node:timers/promises';
import { connect, systemClock } from '../dist/index.js';
import { openStore } from '../dist/stores/open-store.js';

const [url, pace] = process.argv.slice(2);
const connected = new Map();

async function as(owner) {
  if (!connected.has(owner)) connected.set(owner, await connect(url, { owner, services: 'off' }));
  return connected.get(owner);
}

async function holds(owner, resources, options = {}) {
  return (await as(owner)).acquire(resources, { ttl: '30s', wait: 0, ...options });
}

/** Answers when the ticket stands. */
async function waits(owner, resource, options = {}) {
  const leases = await as(owner);
  leases.acquire(resource, { ttl: '30s', wait: '1h', ...options }).catch(() => undefined);
  while ((await leases.list({ owner, status: 'pending' })).items.length === 0) await delay(20);
}

async function held() {
  const metadata = { host: 'web1', pid: 4711, attempt: 2 };
  await holds('worker-7', 'orders/0', { metadata });
  await holds('worker-2', 'orders/1');
  await holds('worker-3', 'orders/2', { ttl: '2m' });
  await holds('agent-ann', 'repo/src/api/client.ts', { ttl: '5m' });
  await holds('agent-bob', { name: 'repo/docs', scope: 'subtree' }, { ttl: '5m' });
  await holds('agent-cem', ['repo/src/parse.ts', 'repo/src/print.ts', 'repo/test/parse.ts'], { ttl: '5m' });
  for (const owner of ['reader-1', 'reader-2']) await holds(owner, { name: 'reports/daily', mode: 'shared', limit: 4 });
  await holds('scheduler-b', 'leader/scheduler', { ttl: '15s' });
  // A program that died without a word, with a long time to live.
  const lost = await holds('migration-12', 'db/schema', { ttl: '10m', renew: 'manual' });
  lost.abandon();
}

async function waiting() {
  for (const owner of ['worker-4', 'worker-5', 'worker-6']) await waits(owner, 'orders/0');
  await waits('agent-dee', 'repo/docs/guide/server.md');
  await waits('release-9', 'db/schema', { priority: 10 });
}

async function happened() {
  const [ann, operator] = [await as('worker-1'), await as('operator')];
  for (let day = 1; day <= 6; day += 1)
    await ann.withLease(`orders/${day % 3}`, async () => undefined).catch(() => undefined);
  const brief = await holds('worker-9', 'imports/nightly', { ttl: 400, renew: 'manual' });
  await holds('worker-8', 'imports/weekly', { ttl: '5m' });
  await operator.revoke({ resource: 'imports/weekly', reason: 'started on the wrong day' });
  while ((await operator.sweep()).expired === 0 && (await operator.get(brief.id)).status === 'active') await delay(50);
}

async function streams() {
  const store = await openStore(url, { clock: systemClock(), namespace: 'default', migrate: 'auto' });
  const orders = (await as('worker-1')).sequence('orders/log');
  const commit = async (number) =>
    (await orders.lease({ operationId: `order-${number}`, kind: 'order' })).commit({ number });
  for (let number = 1; number <= 24; number += 1) await commit(number);
  const { sequences } = store;
  const given = { stream: 'orders/log', kind: 'order', owner: 'worker-9', count: 1, ttlMs: 200 };
  for (const operationId of ['order-25', 'order-26']) await sequences.lease([{ ...given, operationId }]);
  for (const settled = new Set(); settled.size < 2; await delay(50)) {
    const { claimed } = await sequences.claim({ owner: 'recoverer', limit: 10, ttlMs: 60_000, gapsToo: false });
    for (const { stream, operationId, claimEpoch } of claimed) {
      const settlement =
        operationId === 'order-26'
          ? { to: 'manual', reason: 'no result', error: 'the payment service did not answer' }
          : { to: 'gap', reason: 'expired' };
      await sequences.settle([{ stream, operationId, claimEpoch, settlement }]);
      settled.add(operationId);
    }
  }
  for (let number = 27; number <= 40; number += 1) await commit(number);
  let seen = 0;
  for await (const { done } of orders.reader('projection').follow()) {
    await done();
    seen += 1;
    if (seen === 31) break;
  }
  await orders.lease({ operationId: 'order-41', kind: 'order', ttl: '10m' });
  await (await orders.lease({ operationId: 'order-42', kind: 'order', ttl: '10m' })).commit({ number: 42 });
  const invoices = (await as('worker-2')).sequence('invoices');
  for (let number = 1; number <= 8; number += 1) {
    await (await invoices.lease({ operationId: `invoice-${number}`, kind: 'invoice' })).commit({ number });
  }
  await store.close();
}

/** Short work in waves, now and then refused. */
async function busy() {
  const [mailer, impatient] = [await as('mailer-1'), await as('worker-0')];
  for (let turn = 0; ; turn += 1) {
    const many = Math.round(3 + 2.5 * Math.sin(turn / 25));
    for (let n = 0; n < many; n += 1) {
      await mailer.withLease(`mail/${(turn + n) % 50}`, async () => undefined).catch(() => undefined);
    }
    if (turn % 4 === 0) await impatient.tryAcquire('orders/1').catch(() => undefined);
    await delay(500);
  }
}

await happened();
await held();
await waiting();
await streams();
process.stdout.write('ready\n');
if (pace === 'busy') await busy();
setInterval(() => undefined, 60_000);
