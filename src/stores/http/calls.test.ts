// Lists over HTTP against a server that answers them wrongly: nothing of such an answer is believed.
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../system-clock.js';
import { Calls } from './calls.js';
import { PROTOCOL } from './codec.js';
import { parseHttpUrl } from './http-url.js';
import { Transport } from './transport.js';

const clock = systemClock();
let server: Server | undefined;
let calls: Calls | undefined;

/** Answers the calls it is asked, one after the other, with these results. */
async function talkTo(...results: readonly unknown[]): Promise<Calls> {
  let at = 0;
  server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { calls: asked } = JSON.parse(Buffer.concat(chunks).toString()) as { calls: readonly unknown[] };
      const reply = { now: 1, incarnation: 'one', settingsVersion: 1 };
      const answers = asked.map(() => ({ answer: { ...reply, results: results[at++] } }));
      response.setHeader('holdfast-protocol', String(PROTOCOL)).end(JSON.stringify({ answers }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  calls = new Calls(new Transport(parseHttpUrl(`http://127.0.0.1:${port}`), { clock }), clock);
  return calls;
}
afterEach(() => {
  calls?.close();
  server?.closeAllConnections();
  server?.close();
});

const left = { outcome: 'left' };
const end = (to: Calls, items: readonly object[]) => to.items('default', 'end', items, () => undefined);
const foreign = (count: number) => ({
  code: 'STORE_INCOMPATIBLE',
  message: expect.stringMatching(`not answer as a Holdfast server does \\(${count} results were expected\\)`) as string,
});

describe('W2, S12: a list with another number of results than items', () => {
  test.each([
    ['one too few', [left]],
    ['one too many', [left, left, left]],
    ['a hole', [left, null]],
    ['none', undefined],
  ])('%s: nothing of it is believed', async (_what, results) => {
    await expect(end(await talkTo(results), [{ id: 'a' }, { id: 'b' }])).rejects.toMatchObject(foreign(2));
  });

  test('each piece of a long list is counted for itself: one too many does not make up for one too few', async () => {
    const large = { text: 'x'.repeat(700_000) };
    await expect(end(await talkTo([left, left], []), [large, large])).rejects.toMatchObject(foreign(1));
    await expect(end(await talkTo([left], [left]), [large, large])).resolves.toMatchObject({ results: [left, left] });
  });
});
