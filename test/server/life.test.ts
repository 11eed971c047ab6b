// The life of a server (W1, W5): a port that is taken, a store that is away at the start and then comes, TLS, a toy, two servers
// on one file, and draining: what waits is answered 503, what is under way is finished, then it is closed.
import { once } from 'node:events';
import { request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { serve } from '../../src/server/index.js';
import { matching, servedSite } from '../support/served-site.js';
import { startPostgres } from '../support/servers/postgres-server.js';
import { makeCertificate } from '../support/servers/tls-certificate.js';

const site = servedSite();

test('W1: a port that is taken is said, with what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as { port: number };
  await expect(serve({ store: site.url, port })).rejects.toMatchObject({
    code: 'INVALID_ARGUMENT',
    message: matching(/cannot listen on 127\.0\.0\.1:\d+: another program has it: .* --port/),
  });
  other.close();
});

test('W5: a store in memory is served only as a toy, another server never', async () => {
  await expect(serve({ store: 'memory:', port: 0 })).rejects.toMatchObject({ message: matching(/--toy/) });
  await expect(serve({ store: 'http://127.0.0.1:1', port: 0 })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
  const server = await site.start({ store: 'memory:', toy: true });
  await server.ready;
  expect(await site.ask('POST', '/v1/leases', { resource: 'a' })).toMatchObject({ status: 201 });
});

test('W5: served SQLite is opened with synchronous=FULL, whatever its address says', async () => {
  const server = await site.start({ store: `${site.url}?synchronous=normal&cacheSize=1mb` });
  await server.ready;
  const { json } = await site.ask('POST', '/v1/store/info', { args: [] });
  expect(json).toMatchObject({ details: { synchronous: 'full' } });
});

test('W1: a store that can never be served ends the start, and says why', async () => {
  const file = `${site.folder}/letter.txt`;
  writeFileSync(file, 'Dear database, '.repeat(1_000));
  const server = await serve({ store: `sqlite:${file}`, port: 0 });
  await expect(server.ready).rejects.toMatchObject({ code: 'STORE_INCOMPATIBLE' });
  await server.stop();
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
});

test('W1: a store that is away at the start: alive, not ready, and ready when it comes', async () => {
  const postgres = await startPostgres();
  await postgres.stop();
  const server = await site.start({ store: postgres.url });
  expect(await site.ask('GET', '/healthz')).toMatchObject({ status: 200, json: { ok: true } });
  const notYet = await site.ask('GET', '/readyz');
  expect(notYet).toMatchObject({ status: 503, json: { ready: false, state: 'starting' } });
  expect(notYet.headers.get('retry-after')).toBe('1');
  expect(await site.ask('POST', '/v1/leases', { resource: 'a' })).toMatchObject({
    status: 503,
    json: { code: 'STORE_UNAVAILABLE', retryable: true },
  });
  await expect.poll(() => site.log.some(({ level }) => level === 'warn'), { timeout: 20_000 }).toBe(true);
  await postgres.start();
  try {
    await server.ready;
    expect(await site.ask('GET', '/readyz')).toMatchObject({ status: 200, json: { ready: true } });
    expect(await site.ask('POST', '/v1/leases', { resource: 'a' })).toMatchObject({ status: 201 });
    postgres.freeze();
    expect(await site.ask('GET', '/readyz')).toMatchObject({ status: 503, json: { state: 'store silent' } });
    expect(await site.ask('GET', '/healthz')).toMatchObject({ status: 200 });
    postgres.thaw();
    await expect.poll(async () => (await site.ask('GET', '/readyz')).status, { timeout: 15_000 }).toBe(200);
  } finally {
    await server.stop();
    await postgres.remove();
  }
});

test('W1: TLS by a certificate and its key', async () => {
  const { certificate: cert, key, authority } = makeCertificate(site.folder, ['IP:127.0.0.1']);
  const server = await site.start({ tls: { cert, key } });
  await server.ready;
  expect(server.url).toMatch(/^https:/);
  const status = await new Promise((resolve, reject) => {
    tlsRequest(`${server.url}/healthz`, { ca: readFileSync(authority) }, (answer) => {
      answer.resume();
      resolve([answer.statusCode, answer.headers['strict-transport-security'] !== undefined]);
    })
      .once('error', reject)
      .end();
  });
  expect(status).toEqual([200, true]);
  await expect(serve({ store: site.url, port: 0, tls: { cert: '/no/such', key } })).rejects.toMatchObject({
    message: matching(/--tls-cert: \/no\/such cannot be read \(ENOENT\)/),
  });
});

test('W5: draining answers what waits with 503 and when to come back, and finishes what is under way', async () => {
  const server = await site.start();
  await server.ready;
  await site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ann' });
  const waiting = Array.from({ length: 20 }, (_, n) =>
    site.ask('POST', '/v1/leases', { resource: 'a', owner: `w${n}`, wait: 'forever' }),
  );
  await expect.poll(async () => (await site.ask('GET', '/v1/tickets')).json.items.length).toBe(20);
  const under = site.ask('POST', '/v1/leases', { resource: 'b', owner: 'ben' });
  const stopped = server.stop();
  for (const answer of await Promise.all(waiting)) {
    expect(answer).toMatchObject({ status: 503, json: { code: 'SHUTTING_DOWN' } });
    expect(answer.headers.get('retry-after')).toBe('1');
  }
  expect([201, 503]).toContain((await under).status);
  await stopped;
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
  const next = await site.start();
  await next.ready;
  const { json } = await site.ask('GET', '/v1/leases', undefined, { server: next });
  expect(json.items.filter(({ status }) => status === 'pending')).toEqual([]);
});

test('W5: a client that never finishes its request does not keep a server from closing', async () => {
  const server = await site.start({ drain: '200ms' });
  await server.ready;
  const slow = plainRequest(`${server.url}/v1/leases`, { method: 'POST', headers: { 'content-length': '100' } });
  slow.on('error', () => undefined);
  slow.write('{');
  await expect.poll(async () => (await site.ask('GET', '/healthz')).status).toBe(200);
  await server.stop();
});

test('W1 S1: two servers on one SQLite file agree on who holds, and one wakes the waiters of the other', async () => {
  const one = await site.start();
  const two = await site.start();
  await Promise.all([one.ready, two.ready]);
  const { json: held } = await site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ann' }, { server: one });
  expect(await site.ask('POST', '/v1/leases', { resource: 'a', wait: 0 }, { server: two })).toMatchObject({
    status: 409,
  });
  const waiting = site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ben', wait: '20s' }, { server: two });
  await expect.poll(async () => (await site.ask('GET', '/v1/tickets')).json.items.length).toBe(1);
  await site.ask('POST', `/v1/leases/${held.id}/release`, { epoch: held.epoch }, { server: two });
  expect(await waiting).toMatchObject({ status: 201, json: { owner: 'ben' } });
  await one.stop();
  expect(await site.ask('GET', '/v1/leases', undefined, { server: two })).toMatchObject({
    status: 200,
    json: { items: [{ owner: 'ben' }] },
  });
});

test('S1 W1: two servers on one SQLite file under load never grant the same name twice', async () => {
  const servers = [await site.start(), await site.start()];
  await Promise.all(servers.map(({ ready }) => ready));
  let held = 0;
  let most = 0;
  const work = async (n: number): Promise<void> => {
    const server = servers[n % 2];
    for (let round = 0; round < 5; round += 1) {
      const { status, json } = await site.ask(
        'POST',
        '/v1/leases',
        { resource: 'hot', wait: '60s', ttl: '60s' },
        { server: server ?? site.server },
      );
      expect(status).toBe(201);
      held += 1;
      most = Math.max(most, held);
      await site.ask('GET', '/v1/time', undefined, { server: server ?? site.server });
      held -= 1;
      await site.ask(
        'POST',
        `/v1/leases/${json.id}/release`,
        { epoch: json.epoch },
        { server: servers[(n + round) % 2] ?? site.server },
      );
    }
  };
  await Promise.all(Array.from({ length: 16 }, (_, n) => work(n)));
  expect(most).toBe(1);
  const { json } = await site.ask('GET', '/v1/history?type=lease.acquired&resource=hot');
  expect(json.items).toHaveLength(80);
});
