// holdfast serve as a process (C10, W1, W5): it prints its address, it drains on SIGTERM under load, a second signal ends it at
// once, slips of the pen are told, and other commands load nothing of it.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect as connectSocket, createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { matching } from '../support/served-site.js';
import { commandSite, MAIN, type Live } from '../support/command-site.js';

const site = commandSite();
const ADDRESS = /http:\/\/127\.0\.0\.1:\d+/;

interface Taken {
  readonly id: string;
  readonly epoch: number;
}

async function post(
  url: string,
  path: string,
  body: object,
): Promise<{ status: number; json: Record<string, unknown> }> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  return { status: response.status, json: (await response.json()) as Record<string, unknown> };
}

async function ready(url: string): Promise<void> {
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 30_000 }).toBe(200);
}

async function started(...args: string[]): Promise<{ live: Live; url: string }> {
  const live = site.start('serve', '--port', '0', ...args);
  const url = await live.says(ADDRESS);
  await ready(url);
  return { live, url };
}

test('C10 W1: serve prints its address, answers, and ends with 0 when it is told to', async () => {
  const { live, url } = await started();
  expect(live.out).toBe(`listening on ${url} (store ${site.url}, namespace default)\n`);
  expect(await post(url, '/v1/leases', { resource: 'a', owner: 'ann' })).toMatchObject({ status: 201 });
  live.process.kill('SIGTERM');
  const { code, err } = await live.ended;
  expect(code).toBe(0);
  const lines = err
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { level: string; message: string });
  expect(lines.map(({ message }) => message)).toEqual(expect.arrayContaining(['ready', 'draining', 'closed']));
  expect(lines.some(({ level, message }) => level === 'warn' && /no token was made/.test(message))).toBe(true);
});

test('C10: serve --json prints one document', async () => {
  const live = site.start('serve', '--port', '0', '--json');
  await live.says(/\}\n/);
  expect(JSON.parse(live.out)).toEqual({ url: matching(ADDRESS), store: site.url, namespace: 'default' });
  live.process.kill('SIGINT');
  expect((await live.ended).code).toBe(0);
});

test('C10 W5: slips of the pen and a port that is taken are told in one line', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  expect(await site.run('serve', '--port', String(port))).toMatchObject({
    code: 64,
    err: matching(/cannot listen on 127\.0\.0\.1:\d+: another program has it/),
  });
  other.close();
  expect(await site.run('serve', '--tls-cert', 'x')).toMatchObject({ code: 64 });
  expect(await site.run('--store', 'memory:', 'serve')).toMatchObject({
    code: 64,
    err: matching(/--toy/),
  });
  expect(await site.run('--store', 'nonsense', 'serve', '--port', '0')).toMatchObject({ code: 64 });
});

test('W5 S9: SIGTERM under load: whoever waits is told to come back, and nothing answered is lost', async () => {
  const { live, url } = await started();
  const { json: held } = await post(url, '/v1/leases', { resource: 'hot', owner: 'holder', ttl: '1h' });
  const waiting = Array.from({ length: 50 }, (_, n) =>
    post(url, '/v1/leases', { resource: 'hot', owner: `w${n}`, wait: 'forever' }),
  );
  const kept: Taken[] = [];
  const statuses = new Set<number>();
  const over = new AbortController();
  const load = async (n: number): Promise<void> => {
    for (let round = 0; !over.signal.aborted; round += 1) {
      try {
        const body = { resource: `load/${n}/${round}`, owner: `load${n}`, ttl: '1h', wait: 0 };
        const { status, json } = await post(url, '/v1/leases', body);
        statuses.add(status);
        if (status === 201) kept.push(json as unknown as Taken);
      } catch {
        return; // the door is closed
      }
    }
  };
  const loads = Array.from({ length: 16 }, (_, n) => load(n));
  await expect.poll(() => kept.length, { timeout: 30_000 }).toBeGreaterThan(100);
  live.process.kill('SIGTERM');
  for (const { status, json } of await Promise.all(waiting)) {
    expect({ status, code: json['code'] }).toEqual({ status: 503, code: 'SHUTTING_DOWN' });
  }
  const { code, err } = await live.ended;
  over.abort();
  await Promise.all(loads);
  expect(code).toBe(0);
  expect([...statuses].filter((status) => status !== 201 && status !== 503)).toEqual([]);
  expect(err).not.toMatch(/"level":"error"/);

  const next = await started();
  for (const { id, epoch } of kept) {
    const answer = await fetch(`${next.url}/v1/leases/${id}`);
    expect(await answer.json()).toMatchObject({ id, epoch, status: 'active' });
  }
  const tickets = (await (await fetch(`${next.url}/v1/tickets`)).json()) as { items: unknown[] };
  expect(tickets.items).toEqual([]);
  expect(await post(next.url, `/v1/leases/${String(held['id'])}/release`, { epoch: held['epoch'] })).toMatchObject({
    json: { outcome: 'released' },
  });
});

for (const [first, second] of [
  ['SIGINT', 'SIGTERM'],
  ['SIGTERM', 'SIGTERM'],
] as const)
  test(`C10 W5: ${second} after ${first} ends at once, whatever is still under way`, async () => {
    const { live, url } = await started('--drain', '15s');
    const socket = connectSocket(Number(new URL(url).port), '127.0.0.1');
    socket.on('error', () => undefined);
    const head = 'POST /v1/leases HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n';
    socket.write(`${head}expect: 100-continue\r\ncontent-length: 100\r\n\r\n{`);
    await once(socket, 'data'); // the server is at it, and waits for the rest
    live.process.kill(first);
    await expect.poll(() => live.err, { timeout: 10_000 }).toContain('"draining"');
    live.process.kill(second);
    expect((await live.ended).code).toBe(69);
    expect(live.err).not.toContain('"closed"');
    socket.destroy();
  });

test('S9 W5: a client that is killed while it waits leaves the queue', async () => {
  const { url } = await started();
  await post(url, '/v1/leases', { resource: 'a', owner: 'ann' });
  const script = `fetch('${url}/v1/leases', { method: 'POST', headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ resource: 'a', owner: 'killed', wait: 'forever' }) })`;
  const child = spawn(process.execPath, ['-e', script], { stdio: 'ignore' });
  const waiting = async (): Promise<number> => {
    const answer = (await (await fetch(`${url}/v1/tickets`)).json()) as { items: unknown[] };
    return answer.items.length;
  };
  await expect.poll(waiting, { timeout: 20_000 }).toBe(1);
  child.kill('SIGKILL');
  await expect.poll(waiting, { timeout: 5_000 }).toBe(0);
});

test('C10: other commands load neither hono nor zod', () => {
  const hook = fileURLToPath(new URL('../support/count-modules-child.mjs', import.meta.url));
  const env = { ...process.env, HOLDFAST_STORE: `sqlite:${join(site.folder, 'other.db')}` };
  const loadedBy = (...args: string[]): string[] => {
    const { stderr } = spawnSync(process.execPath, ['--import', hook, MAIN, ...args], { env, encoding: 'utf8' });
    return stderr.split('\n').filter((line) => /^loaded .*\/node_modules\/(?:@hono|hono|zod)\//.test(line));
  };
  for (const args of [['acquire', 'x'], ['ls'], ['whoami'], ['serve', '--help'], ['token', '--help']])
    expect({ args, loaded: loadedBy(...args) }).toEqual({ args, loaded: [] });
  expect(loadedBy('serve', '--port', '99999').length).toBeGreaterThan(0);
});
