// What strangers send (W4, W5), through real sockets: malformed, oversized, deep, chunked, dripped, pipelined, foreign. Each is
// answered with a problem or cut off, and the server is well after it.
import { afterEach, describe, expect, test } from 'vitest';
import type { RunningServer } from '../../src/server/serve.js';
import { SECURITY_HEADERS } from '../../src/server/door/index.js';
import { ServeSite } from '../support/serve-site.js';

const site = new ServeSite();
let server: RunningServer | undefined;

async function served(...options: Parameters<ServeSite['serve']>): Promise<RunningServer> {
  return (server = await site.serve(...options));
}
afterEach(async () => {
  if (server) expect((await site.ask(server, 'GET /healthz')).status).toBe(200);
  server = undefined;
});

function post(body: string | Uint8Array, more = '', path = '/v1/leases'): Buffer {
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body.length;
  const head = `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n`;
  return Buffer.concat([Buffer.from(`${head}${more}Connection: close\r\n\r\n`), Buffer.from(body)]);
}
async function answerTo(bytes: string | Uint8Array): Promise<{ status: number; head: string; body: string }> {
  const client = await site.raw(server!);
  client.send(bytes);
  await client.closed;
  const [head = '', ...rest] = client.received.split('\r\n\r\n');
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1] ?? 0), head, body: rest.join('\r\n\r\n') };
}
function expectSecured(head: string): void {
  for (const [name, value] of Object.entries(SECURITY_HEADERS))
    expect(head.toLowerCase()).toContain(`${name}: ${value.toLowerCase()}`);
}

describe('W5: bodies', () => {
  test('W5: what is no strict JSON is refused, and says why', async () => {
    await served();
    const deep = `{"resource":"a","metadata":${'['.repeat(100)}${']'.repeat(100)}}`;
    const cases: [string | Uint8Array, RegExp][] = [
      ['{"resource":', /not JSON/],
      ['{"resource":"a","resource":"b"}', /twice/],
      ['{"resource":"a","__proto__":{"role":"admin"}}', /__proto__/],
      ['{"resource":"a","metadata":{"__proto__":1}}', /__proto__/],
      [deep, /deeper/],
      [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]), /UTF-8/],
      ['{"resource":"a","unheard-of":1}', /unheard-of/],
      ['[]', /body/],
      ['null', /body/],
      ['', /body/],
    ];
    for (const [body, why] of cases) {
      const answer = await answerTo(post(body));
      expect(answer.status, String(body)).toBe(400);
      expect(JSON.parse(answer.body)).toMatchObject({
        code: 'INVALID_ARGUMENT',
        detail: expect.stringMatching(why) as string,
      });
      expect(answer.head).toContain('application/problem+json');
      expectSecured(answer.head);
    }
    expect((await answerTo(post('{"resource":"a","ttl":"1m"}'))).status).toBe(201);
  });

  test('W5: a body over the bound is refused before it is read, and while it comes when it is chunked', async () => {
    await served({ limits: { bodyBytes: 10_000 } });
    const client = await site.raw(server!);
    client.send(
      'POST /v1/leases HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n{',
    );
    expect(await client.says(/^HTTP\/1\.1 \d+/)).toBe('HTTP/1.1 413');
    const chunked = await site.raw(server!);
    chunked.send(
      'POST /v1/leases HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    const piece = ' '.repeat(1_000);
    for (let n = 0; n < 11; n += 1) chunked.send(`3e8\r\n${piece}\r\n`);
    expect(await chunked.says(/^HTTP\/1\.1 \d+/)).toBe('HTTP/1.1 413');
    const fine = await site.raw(server!);
    fine.send(
      'POST /v1/leases HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
    );
    for (const text of ['{"resource"', ':"a","ttl":60000}']) fine.send(`${text.length.toString(16)}\r\n${text}\r\n`);
    fine.send('0\r\n\r\n');
    expect(await fine.says(/^HTTP\/1\.1 \d+/)).toBe('HTTP/1.1 201');
  });

  test('W5: a body that stops half-way is no request, and nothing is left of it', async () => {
    await served();
    const client = await site.raw(server!);
    client.send(
      'POST /v1/leases HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"resource":',
    );
    client.socket.end();
    await client.closed;
    expect((await site.ask(server!, 'GET /v1/leases')).body['items']).toEqual([]);
    expect(site.log.filter((line) => line.includes('met a bug'))).toEqual([]);
  });

  test('W5: a GET with a body is refused', async () => {
    await served();
    const answer = await answerTo(
      'GET /v1/leases HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: 2\r\n\r\n{}',
    );
    expect(answer.status).toBe(400);
  });
});

describe('W4: foreign requests', () => {
  test('W4: without tokens what a proxy passed on is refused, and says what to do; with one its token counts', async () => {
    await served();
    const passedOn = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];
    for (const name of passedOn) {
      const { status, body } = await site.ask(server!, 'GET /v1/leases', { headers: { [name]: '192.0.2.7' } });
      expect([status, body['code']]).toEqual([403, 'FORBIDDEN']);
      expect(body['detail']).toMatch(new RegExp(`${name} says .* make a token`));
    }
    const token = await site.token(server!, { name: 'ops', role: 'admin' });
    const headers = { 'x-forwarded-for': '192.0.2.7' };
    expect((await site.ask(server!, 'GET /v1/leases', { token, headers })).status).toBe(200);
  });

  test('W4: without tokens a foreign Host is told nothing, and a foreign Origin changes nothing', async () => {
    await served();
    for (const host of ['evil.example', `localhost.evil.example:${server!.port}`, '10.1.2.3']) {
      const answer = await answerTo(`GET /v1/leases HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
      expect(answer.status, host).toBe(403);
      expectSecured(answer.head);
    }
    for (const host of ['localhost', '127.0.0.1', '[::1]', `localhost:${server!.port}`])
      expect(
        (await answerTo(`GET /v1/leases HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).status,
        host,
      ).toBe(200);
    const body = '{"resource":"a","ttl":"1m"}';
    for (const line of ['Origin: http://evil.example\r\n', 'Origin: null\r\n', 'Sec-Fetch-Site: cross-site\r\n'])
      expect((await answerTo(post(body, line))).status, line).toBe(403);
    const plain = post(body).toString().replace('application/json', 'text/plain');
    expect((await answerTo(plain)).status).toBe(415);
    const untyped = 'DELETE /v1/tokens/x HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n';
    expect((await answerTo(untyped)).status).toBe(415);
    expect((await site.ask(server!, 'GET /v1/leases')).body['items']).toEqual([]);
    expect(site.log.some((line) => line.includes('no token was made'))).toBe(true);
    expect((await answerTo(post(body, 'Origin: http://localhost\r\n'))).status).toBe(201);
  });

  test('W4, N4: a page of another origin cannot seal a stream by reading it', async () => {
    await served();
    const stream = '/v1/streams/orders';
    const order = { operationId: 'op-1', kind: 'order' };
    const { body: leased } = await site.ask(server!, `POST ${stream}/lease`, { body: order });
    await site.ask(server!, `POST ${stream}/release`, { body: { operationId: 'op-1', epoch: leased['epoch'] } });
    const read = async (headers: Record<string, string>, path = `${stream}/numbers`): Promise<number> =>
      (await site.ask(server!, `GET ${path}`, { headers })).status;
    const gaps = async (): Promise<unknown> => (await site.ask(server!, `GET ${stream}/gaps`)).body['items'];
    // An image on a page sends no Origin. Another port is another origin, of the same site.
    for (const from of ['cross-site', 'same-site']) expect(await read({ 'sec-fetch-site': from })).toBe(403);
    expect(await read({ origin: 'http://evil.example' })).toBe(403);
    expect(await gaps()).toMatchObject([{ fillable: true, sealed: false }]);
    expect(await read({ 'sec-fetch-site': 'cross-site' }, '/healthz')).toBe(200);
    // The server's own page, and an address that was typed.
    for (const from of ['same-origin', 'none']) expect(await read({ 'sec-fetch-site': from })).toBe(200);
    expect(await gaps()).toMatchObject([{ fillable: false, sealed: true }]);
  });

  test('W4, W3: with tokens any Host is answered, and a foreign Origin still changes nothing', async () => {
    await served();
    const admin = await site.token(server!, { name: 'ops', role: 'admin' });
    const authorized = `Authorization: Bearer ${admin}\r\n`;
    const get = `GET /v1/leases HTTP/1.1\r\nHost: leases.example\r\nConnection: close\r\n${authorized}\r\n`;
    expect((await answerTo(get)).status).toBe(200);
    const body = '{"resource":"a","ttl":"1m"}';
    expect((await answerTo(post(body, `${authorized}Origin: http://evil.example\r\n`))).status).toBe(403);
    expect((await answerTo(post(body, authorized))).status).toBe(201);
  });

  test('W3: a token in an address is refused, whoever asks', async () => {
    await served();
    const admin = await site.token(server!, { name: 'ops', role: 'admin' });
    for (const path of [`/v1/leases?token=${admin}`, `/v1/events?access_token=${admin}`, `/v1/leases/${admin}`]) {
      const answer = await site.ask(server!, `GET ${path}`, { token: admin });
      expect(answer, path).toMatchObject({
        status: 400,
        body: { detail: expect.stringContaining('Authorization') as string },
      });
    }
  });
});

describe('W5: connections', () => {
  test('W5: what is no HTTP, and headers without end, are answered with a problem and closed', async () => {
    await served();
    const cases: [string, number][] = [
      ['hello\r\n\r\n', 400],
      ['GET / HTTP/1.1\r\nHost: a\r\nHost\r\n\r\n', 400],
      [`GET /v1/leases HTTP/1.1\r\nHost: localhost\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
      [`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: localhost\r\n\r\n`, 431],
      [
        'POST /v1/leases HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
        400,
      ],
      ['GET /v1/leases HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n', 400],
      ['GET http://[/ HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n', 400],
    ];
    for (const [bytes, status] of cases) {
      const answer = await answerTo(bytes);
      expect(answer.status, bytes.slice(0, 60)).toBe(status);
      expect(answer.head).toContain('application/problem+json');
      expectSecured(answer.head);
    }
  });

  test('W5: a request that is dripped is cut off, while others are answered', async () => {
    await served();
    const [slowHead, slowBody] = [await site.raw(server!), await site.raw(server!)];
    slowHead.send('GET /v1/leases HTTP/1.1\r\nHost: localhost\r\n');
    slowBody.send(
      'POST /v1/leases HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n',
    );
    const drip = setInterval(() => {
      for (const client of [slowHead, slowBody]) if (!client.isClosed) client.send('x');
    }, 200);
    try {
      expect(await slowHead.says(/^HTTP\/1\.1 \d+/)).toBe('HTTP/1.1 408');
      expect((await site.ask(server!, 'GET /v1/leases')).status).toBe(200);
      await slowBody.closed;
      expect(slowBody.received).not.toContain('201');
    } finally {
      clearInterval(drip);
    }
  });

  test('W5: pipelined requests are answered in order; more than a connection may have are turned away', async () => {
    await served();
    const client = await site.raw(server!);
    const get = (name: string): string => `GET /v1/resource?name=${name} HTTP/1.1\r\nHost: localhost\r\n\r\n`;
    client.send(get('first') + get('bad//name') + get('third'));
    await client.says(/(HTTP\/1\.1 \d+[\s\S]*){3}/);
    expect([...client.received.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
      '200',
      '400',
      '200',
    ]);
    await site.ask(server!, 'POST /v1/leases', { body: { resource: 'a', ttl: '1m' } });
    const greedy = await site.raw(server!);
    const wait = post('{"resource":"a","wait":"1m"}').toString().replace('Connection: close\r\n', '');
    greedy.send(wait.repeat(500));
    const tickets = async (): Promise<number> =>
      ((await site.ask(server!, 'GET /v1/tickets')).body['items'] as unknown[]).length;
    let most = 0;
    for (let look = 0; look < 50 && !greedy.isClosed; look += 1) most = Math.max(most, await tickets());
    expect(most).toBeLessThanOrEqual(32);
    greedy.socket.destroy();
    while ((await tickets()) > 0);
    expect((await site.ask(server!, 'GET /v1/leases')).status).toBe(200);
  });

  test('W5: a waiting request ends with its client, its ticket with it', async () => {
    await served();
    await site.ask(server!, 'POST /v1/leases', { body: { resource: 'a', ttl: '1m' } });
    const tickets = async (): Promise<number> =>
      ((await site.ask(server!, 'GET /v1/tickets')).body['items'] as unknown[]).length;
    const client = await site.raw(server!);
    client.send(post('{"resource":"a","wait":"1m"}'));
    while ((await tickets()) === 0);
    client.socket.destroy();
    while ((await tickets()) > 0);
    const history = (await site.ask(server!, 'GET /v1/history?type=lease.failed')).body['items'] as object[];
    expect(history).toMatchObject([{ reason: 'cancelled' }]);
  });

  test('W5: one waiter too many, and one connection too many, are turned away', async () => {
    await served({ limits: { waits: 2, connections: 6 } });
    await site.ask(server!, 'POST /v1/leases', { body: { resource: 'a', ttl: '1m' } });
    const waiting = [await site.raw(server!), await site.raw(server!)];
    for (const client of waiting) client.send(post('{"resource":"a","wait":"1m"}'));
    const tickets = async (): Promise<number> =>
      ((await site.ask(server!, 'GET /v1/tickets')).body['items'] as unknown[]).length;
    while ((await tickets()) < 2);
    const third = await site.ask(server!, 'POST /v1/leases', { body: { resource: 'a', wait: '1m' } });
    expect(third).toMatchObject({ status: 429, body: { code: 'RATE_LIMITED' } });
    expect(Number(third.headers.get('retry-after'))).toBeGreaterThan(0);
    const idle = await Promise.all(Array.from({ length: 10 }, () => site.raw(server!)));
    await Promise.race(idle.map(({ closed }) => closed));
    for (const client of [...idle, ...waiting]) client.socket.destroy();
  });

  test('W5: who asks too often is told when to come back; others are not slowed down', async () => {
    await served({ limits: { ratePerSecond: 1, rateBurst: 5 } });
    const admin = await site.token(server!, { name: 'ops', role: 'admin' });
    const other = await site.token(server!, { name: 'other', role: 'read' }, admin);
    const answers = [];
    for (let n = 0; n < 8; n += 1) answers.push(await site.ask(server!, 'GET /v1/whoami', { token: admin }));
    const refused = answers.find(({ status }) => status === 429);
    expect(refused?.body).toMatchObject({ code: 'RATE_LIMITED', retryable: true });
    expect(refused?.headers.get('retry-after')).toBe('1');
    expect((await site.ask(server!, 'GET /v1/whoami', { token: other })).status).toBe(200);
    const wrong = `hf_${'0'.repeat(16)}_${'a'.repeat(43)}`;
    const guesses = await Promise.all(
      Array.from({ length: 150 }, () => site.ask(server!, 'GET /v1/whoami', { token: wrong })),
    );
    expect(new Set(guesses.map(({ status }) => status))).toEqual(new Set([401, 429]));
    expect((await site.ask(server!, 'GET /v1/whoami', { token: other })).status).toBe(200);
  });
});
