// The fence before real handlers of hono, express and fastify, over real sockets: the gate is kept until the handler has
// finished, also when its client has gone.
import { request as dial } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { FRAMEWORKS, serve, type FencedServer } from './fenced-server.js';

let server: FencedServer;
afterEach(() => server.close());

function put(value: string, epoch: number, resource = 'orders/0'): Promise<Response> {
  const headers = { 'holdfast-resource': resource, 'holdfast-epoch': String(epoch) };
  return fetch(`${server.url}/fenced/0/${value}`, { method: 'PUT', headers });
}
/** Whatever waits for `what` goes on when the answer is called. */
function hold(what: 'slow' | 'early'): () => void {
  let goOn: () => void = () => undefined;
  server[what] = new Promise((resolve) => {
    goOn = resolve;
  });
  return goOn;
}
/** A request whose client can go away. */
function leaving(path: string): { goAway: () => Promise<void> } {
  const headers = { 'holdfast-resource': 'orders/0', 'holdfast-epoch': '41' };
  const client = dial(`${server.url}${path}`, { method: 'PUT', headers });
  const isGone = new Promise<void>((resolve) => {
    client.once('error', () => resolve());
  });
  client.end();
  const goAway = (): Promise<void> => {
    client.destroy();
    return isGone;
  };
  return { goAway };
}
const begun = (value: string): Promise<void> => expect.poll(() => server.begun).toContain(value);

describe.each(FRAMEWORKS)('G4: %s', (framework) => {
  test('a newer write waits for the handler of an older one, and the older one is not written over it', async () => {
    server = await serve(framework);
    const goOn = hold('slow');
    const older = put('older', 41);
    await begun('older');
    const newer = put('newer', 42);
    const stale = await put('stale', 40).then((response) => response.json());
    expect(stale).toMatchObject({ code: 'STALE_EPOCH', attempted: 40 });
    await expect.poll(async () => (await put('still older', 41)).status).toBe(412); // closed while the newer one waits
    expect(server.begun).toEqual(['older']);
    goOn();
    expect([(await older).status, (await newer).status]).toEqual([200, 200]);
    expect(server.begun).toEqual(['older', 'newer']);
    expect(server.values.get('0')).toBe('newer');
  });

  test('a client that goes away does not open the gate: its handler is still at work', async () => {
    server = await serve(framework);
    const goOn = hold('slow');
    const { goAway } = leaving('/fenced/0/older');
    await begun('older');
    await goAway();
    const newer = put('newer', 42);
    await expect.poll(async () => (await put('still older', 41)).status).toBe(412);
    expect(server.begun).toEqual(['older']);
    goOn();
    expect((await newer).status).toBe(200);
    expect(server.values.get('0')).toBe('newer');
  });

  test('writes of one holder run beside each other, and one without headers is told what to send', async () => {
    server = await serve(framework);
    const goOn = hold('slow');
    const all = ['a', 'b', 'c'].map((value) => put(value, 41));
    await Promise.all(['a', 'b', 'c'].map(begun));
    goOn();
    expect((await Promise.all(all)).map((response) => response.status)).toEqual([200, 200, 200]);
    const bare = await fetch(`${server.url}/fenced/0/bare`, { method: 'PUT' });
    expect(bare.status).toBe(428);
    expect(bare.headers.get('content-type')).toContain('application/problem+json');
    expect(await bare.json()).toMatchObject({ code: 'INVALID_ARGUMENT', status: 428 });
  });
});

test.each(['express', 'fastify'] as const)(
  'G4: %s: a client that had gone before the fence keeps it for half a minute at most',
  async (framework) => {
    const clock = new FakeClock();
    server = await serve(framework, clock);
    const goOn = hold('early');
    const { goAway } = leaving('/fenced/endless/older');
    await expect.poll(() => server.came).toBe(1);
    await goAway();
    await expect.poll(() => server.left).toBe(1);
    goOn();
    await begun('older');
    const newer = put('newer', 42);
    await expect.poll(async () => (await put('still older', 41)).status).toBe(412); // closed while the newer one waits
    await clock.advance(29_999);
    expect(server.begun).toEqual(['older']);
    await clock.advance(1);
    await begun('newer');
    expect((await newer).status).toBe(200);
  },
);
