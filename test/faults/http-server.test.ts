// Bad days of the HTTP store (W2): a server that is killed, drained and started again, connections that are cut or go silent,
// answers that come late, tokens that are wrong. Nobody ever believes beside another, nothing is left behind, and every
// failure has its code and shows no token.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect, LeaseError, type Holdfast } from '../../src/index.js';
import { openHttp } from '../../src/stores/http/index.js';
import { openSqlite } from '../../src/stores/sqlite/index.js';
import { systemClock } from '../../src/system-clock.js';
import { checkHistory } from '../../src/testing/store-conformance/check-history.js';
import { readHistory } from '../../src/testing/store-conformance/history-records.js';
import { startChild, type Child } from '../support/child.js';
import { ServeSite } from '../support/serve-site.js';
import { startCutProxy, type CutProxy } from '../support/servers/cut-proxy.js';
import { startSlowProxy } from '../support/servers/slow-proxy.js';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';

const clock = systemClock();

async function startServer(file: string, port = 0): Promise<{ server: Child; port: number }> {
  const server = startChild('serve-child.mjs', `sqlite:${file}`, String(port));
  const line = await server.line('listening ');
  return { server, port: Number(line.slice('listening '.length)) };
}

interface Turn {
  readonly epoch: number;
  readonly from: number;
  readonly to: number;
}

function turnsIn({ lines }: Child): Turn[] {
  return lines.flatMap((line) => {
    const [word, epoch, from, to] = line.split(' ');
    if (word !== 'turn' || from === undefined || to === undefined || from === 'undefined') return [];
    return [{ epoch: Number(epoch), from: Number(from), to: Number(to) }];
  });
}

describe('processes that contend', () => {
  let folder: TemporaryFolder;
  beforeEach(() => (folder = temporaryFolder()));
  afterEach(() => folder.remove());

  test('W2, S1, S2, S7, S15: the server is killed and drained, connections are cut: no two ever believe at once', async () => {
    const file = join(folder.path, 'leases.db');
    const started = await startServer(file);
    const { port } = started;
    let { server } = started;
    const proxy = await startCutProxy(port);
    const options = JSON.stringify({ resource: 'door', ttl: 1_000, wait: 500 });
    const contenders = [port, proxy.port, proxy.port].map((to, i) =>
      startChild('contender-child.mjs', `http://127.0.0.1:${to}`, `contender-${i}`, options),
    );
    await Promise.all(contenders.map((child) => child.line('open')));
    const turns = (): Turn[] => contenders.flatMap(turnsIn);
    const more = async (count: number): Promise<void> => {
      const goal = turns().length + count;
      while (turns().length < goal) await delay(20);
    };
    await more(3);
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGKILL'] as const) {
      server.process.kill(signal);
      expect(await server.ended).toBe(signal === 'SIGTERM' ? 0 : signal);
      ({ server } = await startServer(file, port));
      await more(2);
      proxy.cut();
      await more(2);
      proxy.blackHole('answers');
      await more(1);
      proxy.heal();
      await more(2);
    }
    for (const child of contenders) child.process.kill('SIGKILL');
    await Promise.all(contenders.map((child) => child.ended));
    await proxy.close();
    server.process.kill('SIGTERM');
    expect(await server.ended).toBe(0);
    const all = turns().sort((a, b) => a.epoch - b.epoch);
    expect(all.slice(1).filter((turn, i) => turn.from <= all[i]!.to)).toEqual([]);
    expect(new Set(all.map((turn) => turn.epoch)).size).toBe(all.length);
    const store = await openSqlite(`sqlite:${file}`, { clock });
    expect(checkHistory({ ...(await readHistory(store)), records: [] })).toEqual([]);
    await store.close();
  }, 120_000);

  test('W2, S7: a holder goes on through a restart of the server, with the same epoch', async () => {
    const file = join(folder.path, 'leases.db');
    const first = await startServer(file);
    const leases = await connect(`http://127.0.0.1:${first.port}`, { services: 'off' });
    const lease = await leases.acquire('job', { ttl: 20_000 });
    const { epoch } = lease;
    first.server.process.kill('SIGTERM');
    expect(await first.server.ended).toBe(0);
    expect(await leases.health()).toMatchObject({ ok: false, held: 1 });
    await expect(leases.now()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    const { server } = await startServer(file, first.port);
    await lease.renew();
    expect([lease.isHeld, lease.epoch]).toEqual([true, epoch]);
    await lease.release();
    await leases.shutdown();
    server.process.kill('SIGTERM');
    expect(await server.ended).toBe(0);
  });
});

describe('one server', () => {
  const site = new ServeSite();
  const open: Holdfast[] = [];
  let proxy: CutProxy | undefined;
  const client = async (url: string, options: Parameters<typeof connect>[1] = {}): Promise<Holdfast> => {
    const leases = await connect(url, { services: 'off', ...options });
    open.push(leases);
    return leases;
  };
  afterEach(async () => {
    await Promise.all(open.splice(0).map((leases) => leases.shutdown().catch(() => undefined)));
    await proxy?.close();
    proxy = undefined;
  });

  test('W2, S9, S15: an acquire whose answer is lost leaves nothing behind, and nobody gets it twice', async () => {
    const server = await site.serve();
    proxy = await startCutProxy(server.port);
    const far = await client(`http://127.0.0.1:${proxy.port}`);
    const near = await client(server.url);
    await far.now();
    proxy.blackHole('answers');
    proxy.newConnections('swallow');
    await expect(far.acquire('job', { ttl: 2_000, wait: 1_000 })).rejects.toBeInstanceOf(LeaseError);
    proxy.heal();
    const lease = await near.acquire('job', { wait: 5_000 });
    expect(lease.isHeld).toBe(true);
    expect((await near.show('job')).holders).toHaveLength(1);
  });

  test('W2, S7: answers that come later than the lease lives are not believed', async () => {
    const server = await site.serve();
    const slow = await startSlowProxy(server.port, 400);
    const far = await client(`http://127.0.0.1:${slow.port}`, { requestTimeout: 100 });
    const near = await client(server.url);
    const attempt = await far.acquire('job', { ttl: 600, wait: 0 }).catch((error: unknown) => error);
    expect(attempt).toBeInstanceOf(LeaseError);
    expect((await near.acquire('job', { wait: 5_000 })).isHeld).toBe(true);
    await slow.close();
  });

  test('Q3, W2: a stream of hints that goes silent is noticed within 15 s, and heard again when it can be', async () => {
    const server = await site.serve();
    proxy = await startCutProxy(server.port);
    const store = await openHttp(`http://127.0.0.1:${proxy.port}`, { clock });
    const heard: string[] = [];
    const said = async (what: string, count: number): Promise<void> => {
      while (heard.filter((one) => one === what).length < count) await delay(20);
    };
    store.subscribe({
      changed: () => void heard.push('changed'),
      down: (error) => void heard.push(error.code),
      up: () => void heard.push('up'),
    });
    await said('up', 1);
    proxy.blackHole('both');
    const silentAt = clock.monotonic();
    await said('STORE_UNAVAILABLE', 1);
    expect(clock.monotonic() - silentAt).toBeLessThan(15_000);
    await said('up', 2);
    await store.close();
  }, 40_000);

  test('Q3, W2: a waiter is woken by hints, sooner than it would ask by itself', async () => {
    const server = await site.serve();
    const [a, b] = [await client(server.url), await client(server.url)];
    const handOver = async (): Promise<number> => {
      const held = await a.acquire('job');
      const waiting = b.acquire('job', { wait: 20_000 });
      while ((await a.show('job')).queue.length === 0) await delay(5);
      const releasedAt = clock.monotonic();
      await held.release();
      await (await waiting).release();
      return clock.monotonic() - releasedAt;
    };
    await handOver(); // the stream is opened with the first ticket, and stays
    for (let i = 0; i < 3; i += 1) expect(await handOver()).toBeLessThan(1_500);
  });

  test('W2, W3: a wrong, a missing and a revoked token are UNAUTHORIZED, and no error or log shows one', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'root', role: 'admin' });
    const made = await site.ask(server, 'POST /v1/tokens', { token: admin, body: { name: 'ci', role: 'write' } });
    const [secret, id] = [made.body['secret'] as string, made.body['id'] as string];
    const wrong = `${secret.slice(0, -4)}AAAA`;
    for (const token of [wrong, undefined]) {
      const failed = await connect(server.url, token === undefined ? {} : { token }).catch((error: unknown) => error);
      expect(failed).toMatchObject({ code: 'UNAUTHORIZED', retryable: false });
      expect(`${String(failed)} ${JSON.stringify(failed)}`).not.toContain(wrong);
      if (token === undefined)
        expect(String(failed)).toBe(
          `LeaseError: ${server.url} asks for a token: give connect one (option token, HOLDFAST_TOKEN for the command)`,
        );
    }
    const leases = await client(server.url, { token: secret });
    const lease = await leases.acquire('job');
    await site.ask(server, `DELETE /v1/tokens/${id}`, { token: admin });
    await expect(lease.renew()).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(site.log.join('\n')).not.toContain(secret);
    expect(site.log.join('\n')).not.toContain(wrong);
  });

  test("W2, W3: a write token holds what is its own; settings, revocations, others' leases and names are FORBIDDEN", async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'root', role: 'admin' });
    const token = (prefix: string, owner: string): Promise<string> =>
      site.token(server, { name: owner, role: 'write', prefix, owner }, admin);
    const mine = await client(server.url, { token: await token('team/a', 'anna'), owner: 'anna' });
    const other = await client(server.url, { token: await token('team', 'otto'), owner: 'otto' });
    const root = await client(server.url, { token: admin });
    const lease = await mine.acquire('team/a/job', { metadata: { why: 'because' } });
    await lease.renew();
    const forbidden = { code: 'FORBIDDEN', retryable: false };
    await expect(mine.acquire('team/b', { wait: 0 })).rejects.toMatchObject(forbidden);
    await expect(mine.acquire('team/a/x', { wait: 0, owner: 'otto' })).rejects.toMatchObject(forbidden);
    await expect(mine.revoke({ resource: 'team/a/job', reason: 'no' })).rejects.toMatchObject(forbidden);
    await expect(mine.config.set('keep_history', false)).rejects.toMatchObject(forbidden);
    const [stolen] = await other.release([{ id: lease.id, epoch: lease.epoch }]).catch((error: unknown) => [error]);
    expect(stolen).not.toMatchObject({ outcome: 'released' });
    expect((await root.get(lease.id))?.metadata).toEqual({ why: 'because' });
    expect(lease.isHeld).toBe(true);
    await lease.release();
  });
});

describe('what is no server of ours', () => {
  const answers: [string, number, Record<string, string>, string, string, RegExp][] = [
    [
      'a redirect',
      302,
      { location: 'https://user:pw@elsewhere/x?token=t' },
      '',
      'STORE_INCOMPATIBLE',
      /redirects are not followed/,
    ],
    ['a page', 200, { 'content-type': 'text/html' }, '<html>', 'STORE_INCOMPATIBLE', /not answer as a Holdfast server/],
    ['nothing there', 404, {}, '', 'STORE_INCOMPATIBLE', /not answer as a Holdfast server/],
    [
      'another language',
      200,
      { 'holdfast-protocol': '9' },
      '{"protocol":9,"kind":"x","version":"7.0.0"}',
      'STORE_INCOMPATIBLE',
      /holdfast 7\.0\.0.* version 9 .*same release/,
    ],
    ['a proxy without a server', 502, {}, 'Bad gateway', 'STORE_UNAVAILABLE', /answered 502/],
    ['a door before it', 401, {}, '', 'UNAUTHORIZED', /refuses this token/],
    ['too many', 429, {}, '', 'RATE_LIMITED', /too often/],
  ];
  test.each(answers)('W2, A11: %s', async (_what, status, headers, body, code, message) => {
    const server = createServer((_request, response) => response.writeHead(status, headers).end(body));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const failed = await connect(`http://127.0.0.1:${port}`, { token: 'hf_a_secret' }).catch((error: unknown) => error);
    expect(failed).toMatchObject({ code, message: expect.stringMatching(message) as string });
    expect(String(failed)).not.toMatch(/hf_a_secret|user:pw|token=t/);
    server.close();
    server.closeAllConnections();
  });
});
