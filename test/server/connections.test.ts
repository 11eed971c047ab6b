// Clients that are there no more, or take nothing (W5): what a server keeps for them has an end.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/index.js';
import { ServeSite, type RawClient } from '../support/serve-site.js';

const site = new ServeSite();
/** Only Linux shows the timers of its connections. */
const TIMERS = '/proc/net/tcp';
const GET_ALL = 'GET /v1/leases?limit=1000 HTTP/1.1\r\nHost: localhost\r\n\r\n';
const acquire = (body: object): string => {
  const text = JSON.stringify(body);
  const head = `Host: localhost\r\nContent-Type: application/json\r\nContent-Length: ${text.length}`;
  return `POST /v1/leases HTTP/1.1\r\n${head}\r\n\r\n${text}`;
};

/** Two lists of these are more than the kernel takes for a client that does not read. Answers what lets the first go. */
async function makeLarge(): Promise<() => Promise<unknown>> {
  const leases = await connect(site.storeUrl, { services: 'off' });
  onTestFinished(() => leases.shutdown());
  const options = { renew: 'manual', ttl: '10m', metadata: { note: 'x'.repeat(4_000) } } as const;
  const made = await Promise.all(Array.from({ length: 1_000 }, (_, n) => leases.acquire(`large/${n}`, options)));
  return async () => made[0]?.release();
}

/** Asks, and takes nothing of the answers. */
function askWithoutReading(client: RawClient, text: string): void {
  client.socket.pause();
  client.send(text);
}

describe('W5: connections that come to nothing', () => {
  const looksForClients =
    'W5, Q2, S9: a client that vanished without a word is looked for, and its ticket goes with it';
  test.runIf(existsSync(TIMERS))(looksForClients, async () => {
    const server = await site.serve();
    const { socket } = await site.raw(server);
    // A line of the kernel's table: local address, the other's, state, queues, and which timer runs; 02 looks for the other.
    const hex = (port: number | undefined): string => (port ?? 0).toString(16).toUpperCase().padStart(4, '0');
    const line = new RegExp(`:${hex(server.port)} \\w+:${hex(socket.localPort)} 01 \\S+ (\\w\\w):`);
    await expect.poll(() => line.exec(readFileSync(TIMERS, 'utf8'))?.[1]).toBe('02');
  });

  test('W5: an answer that nobody takes is not kept for ever; who only waits is left alone', async () => {
    const server = await site.serve({ limits: { unreadMs: 500, connections: 2 } });
    const release = await makeLarge();
    const waits = await site.raw(server);
    waits.send(acquire({ resource: 'large/0', wait: '1m' }));
    askWithoutReading(await site.raw(server), GET_ALL.repeat(2));
    // There is a place for another connection when this one was cut.
    const tickets = async (): Promise<unknown> =>
      (await site.ask(server, 'GET /v1/tickets').catch(() => undefined))?.body['items'];
    await expect.poll(tickets, { timeout: 10_000 }).toHaveLength(1);
    expect(waits.isClosed).toBe(false);
    await release();
    await waits.says(/HTTP\/1\.1 201/);
  });

  test('W5: the next request of a connection is carried out when the answer before it was taken', async () => {
    const server = await site.serve();
    await makeLarge();
    const client = await site.raw(server);
    askWithoutReading(client, GET_ALL.repeat(2) + acquire({ resource: 'b', ttl: '1m' }));
    for (let look = 0; look < 20; look += 1)
      expect((await site.ask(server, 'GET /v1/resource?name=b')).body['holders']).toEqual([]);
    client.socket.resume();
    await client.says(/HTTP\/1\.1 201/);
    expect(client.received.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 200', 'HTTP/1.1 201']);
  });
});
