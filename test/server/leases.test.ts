// Leases over HTTP (W1): taken, refused, renewed, released, delegated, up- and downgraded, as a plain client does it.
import { connect } from 'node:net';
import Database from 'better-sqlite3';
import { beforeEach, expect, test } from 'vitest';
import { servedSite } from '../support/served-site.js';

const site = servedSite();

let url: string;
beforeEach(async () => {
  const server = await site.start();
  await server.ready;
  ({ url } = server);
});

test('W1: a lease is taken, renewed and released', async () => {
  const taken = await site.ask('POST', '/v1/leases', {
    resource: 'orders/0',
    owner: 'ann',
    ttl: '30s',
    metadata: { n: 1 },
  });
  expect(taken).toMatchObject({
    status: 201,
    json: { owner: 'ann', status: 'active', ttlMs: 30_000, metadata: { n: 1 }, parts: [{ name: 'orders/0' }] },
  });
  const { id, epoch, remainingMs } = taken.json;
  expect(remainingMs).toBeGreaterThan(0);
  expect(taken.headers.get('location')).toBe(`/v1/leases/${id}`);
  expect(await site.ask('GET', `/v1/leases/${id}`)).toMatchObject({ status: 200, json: { id, epoch } });
  expect(await site.ask('POST', `/v1/leases/${id}/renew`, { epoch, ttl: '1m' })).toMatchObject({
    status: 200,
    json: { renewals: 1 },
  });
  expect(await site.ask('POST', `/v1/leases/${id}/release`, { epoch })).toMatchObject({
    status: 200,
    json: { outcome: 'released' },
  });
  expect(await site.ask('POST', `/v1/leases/${id}/release`, { epoch })).toMatchObject({
    json: { outcome: 'released' },
  });
  expect(await site.ask('POST', `/v1/leases/${id}/renew`, { epoch })).toMatchObject({
    status: 409,
    json: { code: 'NOT_HELD', leaseStatus: 'released' },
  });
});

test('W1: a refusal is 409 with its code and its facts', async () => {
  await site.ask('POST', '/v1/leases', { resources: ['a', 'b'], owner: 'ann' });
  const refused = await site.ask('POST', '/v1/leases', { resources: 'a', wait: 0 });
  expect(refused).toMatchObject({
    status: 409,
    json: {
      title: 'Conflict',
      status: 409,
      code: 'ACQUIRE_TIMEOUT',
      refusal: { reason: 'held', holderCount: 1, holders: [{ owner: 'ann' }] },
    },
  });
  expect(refused.headers.get('content-type')).toBe('application/problem+json');
});

test('W1: a waiting acquire is granted when its turn comes', async () => {
  const { json: held } = await site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ann' });
  const waiting = site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ben', wait: '20s' });
  await expect.poll(async () => (await site.ask('GET', '/v1/tickets')).json.items.length).toBe(1);
  await site.ask('POST', `/v1/leases/${held.id}/release`, { epoch: held.epoch });
  const granted = await waiting;
  expect(granted).toMatchObject({ status: 201, json: { owner: 'ben' } });
  expect(granted.json.epoch).toBeGreaterThan(held.epoch);
});

test('S9 W5: a waiting request ends with its client, its ticket with it', async () => {
  await site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ann' });
  const controller = new AbortController();
  const waiting = site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ben', wait: '20s' }, controller);
  waiting.catch(() => undefined);
  await expect.poll(async () => (await site.ask('GET', '/v1/tickets')).json.items.length).toBe(1);
  controller.abort();
  await expect(waiting).rejects.toThrow();
  await expect.poll(async () => (await site.ask('GET', '/v1/tickets')).json.items.length).toBe(0);
  const { json } = await site.ask('GET', '/v1/history?type=lease.failed');
  expect(json.items).toMatchObject([{ owner: 'ben', reason: 'cancelled' }]);
});

test('S5 W1: a stale epoch changes nothing and says both', async () => {
  const { json: first } = await site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ann' });
  const delegated = await site.ask('POST', `/v1/leases/${first.id}/delegate`, { epoch: first.epoch, toOwner: 'ben' });
  expect(delegated).toMatchObject({ status: 200, json: { owner: 'ben', id: first.id } });
  expect(await site.ask('POST', `/v1/leases/${first.id}/renew`, { epoch: first.epoch })).toMatchObject({
    status: 409,
    json: {
      code: 'STALE_EPOCH',
      current: delegated.json.epoch,
      attempted: first.epoch,
      detail: `Renewal failed: stale epoch (current: ${delegated.json.epoch}, attempted: ${first.epoch})`,
    },
  });
});

test('Q5 W1: a shared lease is upgraded when the others are gone, and downgraded again', async () => {
  const shared = { resource: 'a', mode: 'shared' };
  const { json: ann } = await site.ask('POST', '/v1/leases', { ...shared, owner: 'ann' });
  const { json: ben } = await site.ask('POST', '/v1/leases', { ...shared, owner: 'ben' });
  expect(await site.ask('POST', `/v1/leases/${ann.id}/upgrade`, { epoch: ann.epoch, wait: 0 })).toMatchObject({
    status: 409,
    json: { code: 'ACQUIRE_TIMEOUT' },
  });
  const upgrading = site.ask('POST', `/v1/leases/${ann.id}/upgrade`, { epoch: ann.epoch, wait: '20s' });
  await expect.poll(async () => (await site.ask('GET', '/v1/tickets')).json.items.length).toBe(1);
  await site.ask('POST', `/v1/leases/${ben.id}/release`, { epoch: ben.epoch });
  const upgraded = await upgrading;
  expect(upgraded).toMatchObject({ status: 200, json: { id: ann.id, parts: [{ mode: 'exclusive' }] } });
  const { epoch } = upgraded.json;
  expect(epoch).toBeGreaterThan(ann.epoch);
  expect(await site.ask('POST', `/v1/leases/${ann.id}/downgrade`, { epoch })).toMatchObject({
    status: 200,
    json: { id: ann.id, epoch, parts: [{ mode: 'shared' }] },
  });
});

test('Q4 W1: a deadlock between two clients is found, and one of them is told the cycle', async () => {
  const { json: a } = await site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ann' });
  const { json: b } = await site.ask('POST', '/v1/leases', { resource: 'b', owner: 'ben' });
  const answers = await Promise.race([
    site.ask('POST', '/v1/leases', { resource: 'b', owner: 'ann', holding: [a.id], wait: '30s' }),
    site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ben', holding: [b.id], wait: '30s' }),
  ]);
  expect(answers).toMatchObject({ status: 409, json: { code: 'DEADLOCK' } });
  expect(answers.json.cycle).toHaveLength(2);
});

test('S13 W1: what is taken through a server says so in the store', async () => {
  const remote = (): unknown => {
    const db = new Database(`${site.folder}/leases.db`, { readonly: true });
    const count = db.prepare("SELECT count(*) FROM journal WHERE json_extract(more, '$.remote')").pluck().get();
    db.close();
    return count;
  };
  expect(remote()).toBe(0);
  await site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ann' });
  expect(remote()).toBe(1);
});

test('A7 W1: a revocation up to an epoch spares what was handed on since, and a repeat ends nothing', async () => {
  const { json } = await site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ann' });
  const order = { leaseId: json.id, reason: 'stuck' };
  const seen = { ...order, upToEpoch: json.epoch };
  const handed = await site.ask('POST', `/v1/leases/${json.id}/delegate`, { epoch: json.epoch, toOwner: 'bob' });
  expect(await site.ask('POST', '/v1/revocations', seen)).toMatchObject({ status: 200, json: { count: 0 } });
  expect(await site.ask('GET', `/v1/leases/${json.id}`)).toMatchObject({ json: { status: 'active', owner: 'bob' } });
  const now = { ...order, upToEpoch: handed.json.epoch };
  expect(await site.ask('POST', '/v1/revocations', now)).toMatchObject({
    json: { count: 1, items: [{ owner: 'bob' }] },
  });
  expect(await site.ask('POST', '/v1/revocations', now)).toMatchObject({ json: { count: 0 } });
  expect(await site.ask('POST', '/v1/revocations', { ...order, upToEpoch: 0 })).toMatchObject({ status: 400 });
});

test('W1: a revocation ends what matches and says who did it', async () => {
  await site.ask('POST', '/v1/leases', { resource: 'a/1', owner: 'ann' });
  await site.ask('POST', '/v1/leases', { resource: 'a/2', owner: 'ann' });
  expect(await site.ask('POST', '/v1/revocations', { under: 'a', reason: 'broken' })).toMatchObject({
    status: 200,
    json: { count: 2, items: [{ status: 'revoked' }, { status: 'revoked' }] },
  });
  expect(await site.ask('POST', '/v1/revocations', { under: 'a', reason: 'broken' })).toMatchObject({
    json: { count: 0, items: [] },
  });
  const { json } = await site.ask('GET', '/v1/history?type=lease.revoked&resource=a/1');
  expect(json.items).toMatchObject([{ actor: 'loopback', reason: 'broken' }]);
});

test('W3: every change leaves one line in the log', async () => {
  const { json } = await site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ann' });
  await site.ask('POST', '/v1/leases', { resource: 'a', wait: 0 });
  await site.ask('POST', `/v1/leases/${json.id}/release`, { epoch: json.epoch });
  const lines = site.log.filter(({ facts }) => facts['audit'] === true).map(({ facts }) => facts);
  expect(lines).toMatchObject([
    { operation: 'acquireLease', outcome: 'ok', leaseId: json.id, resource: 'a', owner: 'ann', tokenName: 'loopback' },
    { operation: 'acquireLease', outcome: 'ACQUIRE_TIMEOUT', resource: 'a' },
    { operation: 'releaseLease', outcome: 'released', leaseId: json.id },
  ]);
});

/** Asks for a lease and is gone before the answer. */
function hangUp(order: object): Promise<void> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    const body = JSON.stringify(order);
    const lines = ['POST /v1/leases HTTP/1.1', `host: ${hostname}`, 'content-type: application/json'];
    const text = [...lines, `content-length: ${body.length}`, '', body].join('\r\n');
    const socket = connect(Number(port), hostname, () => socket.end(text));
    socket.on('finish', () => socket.destroy());
    socket.on('close', () => resolve()).on('error', reject);
  });
}

async function ended(): Promise<number> {
  const { json } = await site.ask('GET', '/v1/history?type=lease.released&prefix=gone');
  return json.items.length;
}

test('S9, W5: a client that hangs up at once, its answer unread, leaves no lease', async () => {
  for (let i = 0; i < 20; i += 1) await hangUp({ resource: `gone/${i}`, wait: 0 });
  await expect.poll(ended, { timeout: 5_000 }).toBe(20);
  expect((await site.ask('GET', '/v1/leases?prefix=gone')).json.items).toEqual([]);
});

test('Q6, S9, W5: nor does it leave a block: no work was done that minHold could stand for', async () => {
  for (let i = 0; i < 20; i += 1) await hangUp({ resource: `gone/${i}`, wait: 0, minHold: '1h' });
  await expect.poll(ended, { timeout: 5_000 }).toBe(20);
  for (let i = 0; i < 20; i += 1)
    expect(await site.ask('POST', '/v1/leases', { resource: `gone/${i}`, wait: 0 })).toMatchObject({ status: 201 });
});
