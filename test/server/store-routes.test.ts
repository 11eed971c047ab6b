// The routes of the store port (W2, W5) as a client that is not ours meets them: strict shapes, items that fail alone, what is
// bounded, what is nobody's; and TLS with an authority of one's own.
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { makeId } from '../../src/domain/ids.js';
import { mayRide } from '../../src/domain/riding-calls.js';
import { connect } from '../../src/index.js';
import { portMethodNames } from '../../src/server/store/methods.js';
import { acquireRequest, exclusive } from '../support/domain-values.js';
import { ServeSite } from '../support/serve-site.js';
import { makeCertificate } from '../support/servers/tls-certificate.js';
import { temporaryFolder } from '../support/temporary-folder.js';

interface Said {
  readonly outcome: string;
  readonly problem?: { readonly code: string };
}

const site = new ServeSite();
const id = (n: number): string => `an-id-of-a-lease-${n}`;
const authority = (n: number) => ({ id: id(n), epoch: 1, requestId: `r${n}` });

describe('W2: calls', () => {
  test('GET /v1/store says which language is spoken, and what stands behind', async () => {
    const server = await site.serve();
    const { status, headers, body } = await site.ask(server, 'GET /v1/store');
    expect([status, headers.get('holdfast-protocol')]).toEqual([200, '1']);
    expect(body).toMatchObject({ protocol: 1, kind: 'sqlite', namespace: 'default', sequences: true });
  });

  test('S21: a bad item fails alone, with the field it is about', async () => {
    const server = await site.serve();
    const good = { ...authority(1), why: 'released' };
    const items = [good, { ...good, extra: 1 }, { ...good, why: 'because' }, null, { ...good, epoch: '1' }];
    const { status, body } = await site.ask(server, 'POST /v1/store/end', { body: { args: [items] } });
    expect(status).toBe(200);
    expect(body['results']).toMatchObject([
      { outcome: 'noted' },
      { outcome: 'failed', problem: { code: 'INVALID_ARGUMENT', detail: expect.stringMatching(/extra/) as string } },
      { outcome: 'failed', problem: { code: 'INVALID_ARGUMENT', detail: expect.stringMatching(/^why in /) as string } },
      { outcome: 'failed', problem: { code: 'INVALID_ARGUMENT' } },
      {
        outcome: 'failed',
        problem: { code: 'INVALID_ARGUMENT', detail: expect.stringMatching(/^epoch in /) as string },
      },
    ]);
  });

  test('a batch answers each call for itself', async () => {
    const server = await site.serve();
    const calls = [
      { method: 'time', args: [] },
      { method: 'backup', args: ['/tmp/x'] },
      { method: 'time', namespace: 'no spaces', args: [] },
      { method: 'show', args: ['a'] },
      { method: 'time', namespace: 'other', args: [] },
    ];
    const { status, body } = await site.ask(server, 'POST /v1/batch', { body: { calls } });
    expect(status).toBe(200);
    const problem = { problem: { code: 'INVALID_ARGUMENT', retryable: false } };
    const answer = { answer: { now: expect.any(Number) as number } };
    expect(body['answers']).toMatchObject([answer, problem, problem, problem, answer]);
  });

  test('S18, S20, W5: what may take long is refused in a batch, alone, and taken by itself', async () => {
    const server = await site.serve();
    const ids = (count: number) => Array.from({ length: count }, (_, n) => id(n));
    const calls = [
      { method: 'list', args: [{ limit: 1 }] },
      { method: 'get', args: [ids(16)] },
      { method: 'get', args: [ids(17)] },
      { method: 'sequences.read', args: [{ stream: 's', from: 1, limit: 1, seal: false, watch: false }] },
    ];
    const { status, body } = await site.ask(server, 'POST /v1/batch', { body: { calls } });
    const alone = (method: string) => ({
      problem: {
        code: 'INVALID_ARGUMENT',
        retryable: false,
        detail: expect.stringMatching(`send it by itself to /v1/store/${method}$`) as string,
      },
    });
    expect(status).toBe(200);
    const answers = [alone('list'), { answer: { items: Array<null>(16).fill(null) } }];
    expect(body['answers']).toMatchObject([...answers, alone('get'), alone('sequences.read')]);
    for (const { method, args } of calls)
      expect((await site.ask(server, `POST /v1/store/${method}`, { body: { args } })).status, method).toBe(200);
  });

  test('S20: which methods ride is one list, of methods there are', () => {
    const alone = portMethodNames().filter((method) => !mayRide(method, []));
    expect(alone.sort()).toEqual(
      [
        ...['events', 'info', 'list', 'migrate', 'prune', 'revoke', 'setSettings', 'show', 'sweep', 'waitGraph'],
        ...['sequences.claim', 'sequences.gaps', 'sequences.manual', 'sequences.manualItems', 'sequences.read'],
        ...['sequences.streams', 'sequences.trim'],
      ].sort(),
    );
    expect(mayRide('backup', [])).toBe(false);
  });

  const time = { method: 'time', args: [] };
  const bad: Readonly<Record<string, [string, unknown]>> = {
    'a method there is not': ['POST /v1/store/nothing', { args: [] }],
    'an argument too many': ['POST /v1/store/time', { args: [1] }],
    'a field too many': ['POST /v1/store/time', { args: [], more: 1 }],
    'an object instead of a list': ['POST /v1/store/acquire', { args: [{}] }],
    'a list of 257': [
      'POST /v1/store/end',
      { args: [Array.from({ length: 257 }, (_, i) => ({ ...authority(i), why: 'released' }))] },
    ],
    'an empty batch': ['POST /v1/batch', { calls: [] }],
    'a batch of 65': ['POST /v1/batch', { calls: Array.from({ length: 65 }, () => time) }],
    'a NUL in the id of a lease': ['GET /v1/leases/%00', undefined],
    'a NUL in an owner to look for': ['GET /v1/leases?owner=%00', undefined],
    'a NUL in an id to look for in the history': ['GET /v1/history?leaseId=%00', undefined],
    'a NUL in the id of a revocation': ['POST /v1/revocations', { leaseId: '\u0000', reason: 'x' }],
    'a NUL in an id of a call': ['POST /v1/store/get', { args: [['\u0000']] }],
    'hints for nobody': ['GET /v1/store/hints', undefined],
    'hints of a namespace that is none': ['GET /v1/store/hints?wake=a,,b', undefined],
    'hints of another kind': ['GET /v1/store/hints?other=a', undefined],
  };
  test.each(Object.entries(bad))('W5: %s is refused, and the server goes on', async (_what, [path, body]) => {
    const server = await site.serve();
    expect((await site.ask(server, path, { body })).status).toBe(400);
    expect((await site.ask(server, 'POST /v1/batch', { body: { calls: [time] } })).status).toBe(200);
  });
});

describe("W3: what is nobody else's", () => {
  test('the namespace of the tokens is closed to everybody, that of the services to all but whole admins', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'root', role: 'admin' });
    const write = await site.token(server, { name: 'ci', role: 'write' }, admin);
    const time = (token: string, namespace: string) =>
      site.ask(server, 'POST /v1/store/time', { token, body: { namespace, args: [] } }).then(({ status }) => status);
    expect(await time(admin, '_holdfast-server')).toBe(403);
    expect(await time(admin, '_holdfast')).toBe(200);
    expect(await time(write, '_holdfast')).toBe(403);
    expect(await time(write, 'default')).toBe(200);
  });

  test('a read token looks, and neither takes, sweeps nor seals', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'root', role: 'admin' });
    const token = await site.token(server, { name: 'eyes', role: 'read' }, admin);
    const call = (method: string, ...args: unknown[]) =>
      site.ask(server, `POST /v1/store/${method}`, { token, body: { args } }).then(({ status }) => status);
    const read = { stream: 's', from: 1, limit: 1, watch: false };
    expect(await call('list', { limit: 1 })).toBe(200);
    expect(await call('sequences.read', { ...read, seal: false })).toBe(200);
    expect(await call('sequences.read', { ...read, seal: true })).toBe(403);
    expect(await call('acquire', [])).toBe(403);
    expect(await call('sweep', { limit: 1 })).toBe(403);
  });

  test('a write token reads as a reader of its own; forgetting one is for admins, as over REST', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'root', role: 'admin' });
    const write = await site.token(server, { name: 'ci', role: 'write' }, admin);
    const bounded = await site.token(server, { name: 'lead', role: 'admin', prefix: 'orders' }, admin);
    const cursor = (token: string, act: string, stream = 'orders') =>
      site.ask(server, 'POST /v1/store/sequences.cursor', { token, body: { args: [{ stream, reader: 'r', act }] } });
    expect((await cursor(write, 'open')).status).toBe(200);
    expect(await cursor(write, 'forget')).toMatchObject({
      status: 403,
      body: { code: 'FORBIDDEN', detail: expect.stringMatching(/needs the role admin/) as string },
    });
    expect((await cursor(bounded, 'forget', 'bills')).status).toBe(403);
    expect((await cursor(bounded, 'forget')).status).toBe(200);
  });

  test('N3, V1: what blocks a stream is recovered by the server for a client that may not', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'root', role: 'admin' });
    const token = await site.token(server, { name: 'ci', role: 'write' }, admin);
    const leases = await connect(server.url, { token, services: 'off' });
    const stream = leases.sequence('orders');
    await stream.lease({ operationId: 'left', kind: 'k', ttl: 300 });
    const done = await stream.lease({ operationId: 'done', kind: 'k', ttl: 20_000 });
    await done.commit({ fine: true });
    await stream.waitFor(done.number, { timeout: 15_000 });
    await leases.shutdown();
  });
});

describe('W5: many namespaces', () => {
  test('W5, W3: a read token that asks for ten thousand of them shuts nobody out of a new one', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'root', role: 'admin' });
    const eyes = await site.token(server, { name: 'eyes', role: 'read', prefix: 'team-a' }, admin);
    const write = await site.token(server, { name: 'ci', role: 'write' }, admin);
    for (let batch = 0; batch < 157; batch += 1) {
      const calls = Array.from({ length: 64 }, (_, n) => ({
        method: 'time',
        namespace: `junk${batch * 64 + n}`,
        args: [],
      }));
      expect((await site.ask(server, 'POST /v1/batch', { token: eyes, body: { calls } })).status).toBe(200);
    }
    const leases = await connect(server.url, { token: write, namespace: 'team-b', services: 'off' });
    await (await leases.acquire('job')).release();
    await leases.shutdown();
  });
});

describe('W5: tickets of a token', () => {
  test('W5: hold within one batch too: as many wait as may, the others are told so, and a refusal counts no longer', async () => {
    const server = await site.serve({ limits: { waitsPerToken: 100 } });
    await site.ask(server, 'POST /v1/leases', { body: { resource: 'a', ttl: '1m' } });
    const bornAt = Date.now();
    const items = (call: number, join: boolean) =>
      Array.from({ length: 200 }, (_, n) => {
        const lease = { id: makeId(bornAt, `${call}-${n}-`.padEnd(20, 'x')), bornAt, owner: `w${n}`, join };
        return acquireRequest({ ...lease, parts: [exclusive('a')], callerWall: bornAt });
      });
    const ask = async (join: boolean): Promise<string[]> => {
      const calls = Array.from({ length: 16 }, (_, call) => ({ method: 'acquire', args: [items(call, join)] }));
      const { body } = await site.ask(server, 'POST /v1/batch', { body: { calls } });
      return (body['answers'] as { answer: { results: Said[] } }[])
        .flatMap(({ answer }) => answer.results)
        .map(({ outcome, problem }) => problem?.code ?? outcome);
    };
    const count = (said: readonly string[], what: string): number => said.filter((one) => one === what).length;
    expect(count(await ask(false), 'refused')).toBe(3_200);
    const said = await ask(true);
    expect([count(said, 'queued'), count(said, 'RATE_LIMITED')]).toEqual([100, 3_100]);
    const again = await ask(true);
    expect([count(again, 'queued'), count(again, 'RATE_LIMITED')]).toEqual([100, 3_100]);
  });
});

describe('W5: a stream that was only asked for its headers', () => {
  test.each(['/v1/store/hints?wake=default', '/v1/events'])('W5: HEAD %s begins nothing', async (path) => {
    const server = await site.serve({ limits: { waits: 1, eventClients: 1 } });
    const headers = { 'holdfast-client': 'c' };
    for (let n = 0; n < 3; n += 1) {
      const head = await site.ask(server, `HEAD ${path}`, { headers });
      expect([head.status, head.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    }
    const client = new AbortController();
    const { status } = await fetch(`${server.url}${path}`, { headers, signal: client.signal });
    client.abort();
    expect(status).toBe(200);
  });

  test('W3: nor is it answered without a token', async () => {
    const server = await site.serve();
    await site.token(server, { name: 'root', role: 'admin' });
    expect((await site.ask(server, 'HEAD /v1/events')).status).toBe(401);
  });
});

describe('W2, W5: TLS', () => {
  test('a server whose authority is named is trusted, another is not', async () => {
    const folder = temporaryFolder();
    const { authority: ca, certificate: cert, key } = makeCertificate(folder.path, ['IP:127.0.0.1']);
    const server = await site.serve({ tls: { cert, key } });
    const untrusted = { code: 'STORE_UNAVAILABLE', retryable: false };
    await expect(connect(server.url)).rejects.toMatchObject({
      ...untrusted,
      message: expect.stringMatching(/certificate is not trusted.*tlsCa=/) as string,
    });
    await expect(connect(server.url.replace('https', 'http'))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    const leases = await connect(`${server.url}?tlsCa=${ca}`, { services: 'off' });
    const lease = await leases.acquire('job');
    const waiting = leases.acquire('job', { wait: 10_000, owner: 'second' });
    while ((await leases.show('job')).queue.length === 0) await delay(5);
    await lease.release();
    await (await waiting).release();
    await leases.shutdown();
    folder.remove();
  });
});
