// Requests over kept connections, against a server that behaves badly in one way at a time.
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../system-clock.js';
import { parseHttpUrl } from './http-url.js';
import { Transport } from './transport.js';

const clock = systemClock();
const TOKEN = 'hf_id_secret';
let server: Server | undefined;
let transport: Transport | undefined;
let asked = 0;

async function talkTo(answer: RequestListener): Promise<Transport> {
  asked = 0;
  server = createServer((request, response) => {
    asked += 1;
    request.resume();
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  transport = new Transport(parseHttpUrl(`http://127.0.0.1:${port}`), { clock, token: TOKEN });
  return transport;
}
function connections(): Promise<number> {
  return new Promise((resolve) => {
    server?.getConnections((_, count) => resolve(count));
  });
}
const ask = { method: 'POST', path: '/x', body: '{}', withinMs: 2_000, isRepeatable: true } as const;

afterEach(() => {
  transport?.close();
  server?.closeAllConnections();
  server?.close();
});

describe('W2: one request', () => {
  test('carries the token in its header, and its connection is used again', async () => {
    const ports = new Set<number | undefined>();
    const to = await talkTo((request, response) => {
      ports.add(request.socket.remotePort);
      response.end(JSON.stringify({ authorization: request.headers.authorization }));
    });
    for (let i = 0; i < 3; i += 1) expect((await to.send(ask)).body).toEqual({ authorization: `Bearer ${TOKEN}` });
    expect(ports.size).toBe(1);
  });

  test('S15: silence is STORE_UNAVAILABLE after its time, with what is known of it', async () => {
    const to = await talkTo(() => undefined);
    await expect(to.send({ ...ask, withinMs: 300 })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retryable: true,
      details: { timedOut: true, waitedMs: 300 },
    });
    expect(asked).toBeLessThanOrEqual(1);
  });

  test('S15: an answer that is cut in the middle is unknown, and is not asked again', async () => {
    const to = await talkTo((_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('{"half":', () => response.destroy());
    });
    await expect(to.send(ask)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(asked).toBe(1);
  });

  test('A9: what is under way when the transport is closed is not asked again, and no connection is left', async () => {
    const to = await talkTo((_request, response) => {
      if (asked === 1) response.end('{}');
    });
    const connections = new Set<number | undefined>();
    server?.on('connection', (socket) => connections.add(socket.remotePort));
    await to.send(ask);
    const pending = to.send(ask); // on the kept connection
    await once(server!, 'request');
    to.close();
    await expect(pending).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await expect(to.send(ask)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    expect([asked, connections.size]).toEqual([2, 1]);
  });

  test.each([
    [true, 3],
    [false, 2],
  ])(
    'S5: a kept connection that was closed meanwhile is tried again if it may be: %s',
    async (isRepeatable, requests) => {
      const to = await talkTo((request, response) => {
        if (asked === 2) request.socket.resetAndDestroy();
        else response.end('{}');
      });
      await to.send(ask);
      const second = to.send({ ...ask, isRepeatable });
      if (isRepeatable) expect((await second).body).toEqual({});
      else await expect(second).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
      expect(asked).toBe(requests);
    },
  );

  test('A11: nobody listens: it cannot have been carried out, and no token is shown', async () => {
    const to = await talkTo(() => undefined);
    server?.close();
    await once(server!, 'close');
    const failed = await to.send(ask).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: 'STORE_UNAVAILABLE',
      details: { driverCode: 'ECONNREFUSED', executed: false },
    });
    expect(JSON.stringify(failed) + String(failed)).not.toContain(TOKEN);
  });

  test('Q3: a stream that is refused in half a sentence is not waited for longer than it may take', async () => {
    const to = await talkTo((_request, response) => {
      response.writeHead(503, { 'content-length': 1_000 });
      response.write('{"code');
    });
    await expect(to.stream('/x', 300).opened).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      retryable: true,
      details: { timedOut: true },
    });
    await expect.poll(() => connections()).toBe(0);
  });

  test('A9: a closed one refuses', async () => {
    const to = await talkTo((_request, response) => response.end('{}'));
    to.close();
    await expect(to.send(ask)).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
  });
});
