// The fence before real handlers of hono, express and fastify, over real sockets: the gate is kept until the handler has
// finished, also when its client has gone.
import { request as dial } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { FRAMEWORKS, serve, type FencedServer } from './fenced-server.js';

let server: FencedServer;
afterEach(() => server.close());

function put(value: string, epoch: number, resource = 'orders/0'): Promise<Response> {
  const headers = { 'holdfast-resource': resource, 'holdfast-epoch': String(epoch) };
  return fetch(`${server.url}/fenced/0/${value}`, { method: 'PUT', headers });
}
function slowly(): () => void {
  let goOn: () => void = () => undefined;
  server.slow = new Promise((resolve) => {
    goOn = resolve;
  });
  return goOn;
}
const begun = (value: string): Promise<void> => expect.poll(() => server.begun).toContain(value);

describe.each(FRAMEWORKS)('G4: %s', (framework) => {
  test('a newer write waits for the handler of an older one, and the older one is not written over it', async () => {
    server = await serve(framework);
    const goOn = slowly();
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
    const goOn = slowly();
    const headers = { 'holdfast-resource': 'orders/0', 'holdfast-epoch': '41' };
    const gone = dial(`${server.url}/fenced/0/older`, { method: 'PUT', headers });
    const isGone = new Promise((resolve) => {
      gone.once('error', resolve);
    });
    gone.end();
    await begun('older');
    gone.destroy();
    await isGone;
    const newer = put('newer', 42);
    await expect.poll(async () => (await put('still older', 41)).status).toBe(412);
    expect(server.begun).toEqual(['older']);
    goOn();
    expect((await newer).status).toBe(200);
    expect(server.values.get('0')).toBe('newer');
  });

  test('writes of one holder run beside each other, and one without headers is told what to send', async () => {
    server = await serve(framework);
    const goOn = slowly();
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
