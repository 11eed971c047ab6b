// The limits of metadata (S18) are those of what the caller gave (W2, W3): the token that a server remembers with it takes none
// of the 4 KiB and none of the 32 levels, and whoever wraps its metadata as a server does gets no more.
import { describe, expect, test } from 'vitest';
import { connect } from '../../src/index.js';
import { ServeSite } from '../support/serve-site.js';

const site = new ServeSite();

function ofBytes(bytes: number): object {
  return { x: 'y'.repeat(bytes - '{"x":""}'.length) };
}
function ofLevels(levels: number): unknown {
  return levels === 0 ? 1 : { a: ofLevels(levels - 1) };
}
const byHand = (metadata: unknown): object => ({
  'holdfast:token': '0123456789abcdef',
  'holdfast:metadata': metadata,
});

const ALLOWED = [ofBytes(4_096), ofLevels(32)];
const REFUSED: readonly (readonly [unknown, RegExp])[] = [
  [ofBytes(4_097), /metadata is 4097 bytes of JSON, at most 4096/],
  [ofLevels(33), /metadata is nested deeper than 32 levels/],
  [byHand(ofBytes(4_096)), /metadata is 4154 bytes of JSON, at most 4096/],
  [byHand(ofLevels(32)), /metadata is nested deeper than 32 levels/],
];

describe('S18 W2 W3: metadata is bounded as the caller gave it', () => {
  for (const isOpen of [true, false])
    test(`S18: ${isOpen ? 'without tokens' : 'with a token'}, over the library and over REST`, async () => {
      const server = await site.serve();
      const admin = isOpen ? undefined : await site.token(server, { name: 'ops', role: 'admin' });
      const token = isOpen ? undefined : await site.token(server, { name: 'w', role: 'write' }, admin);
      const leases = await connect(server.url, { services: 'off', ...(token === undefined ? {} : { token }) });
      const take = (metadata: unknown): ReturnType<typeof site.ask> =>
        site.ask(server, 'POST /v1/leases', { token, body: { resource: 'rest', metadata, wait: 0 } });
      for (const metadata of ALLOWED) {
        const lease = await leases.acquire('library', { metadata, wait: 0 });
        expect((await leases.get(lease.id))?.metadata).toEqual(metadata);
        await lease.release();
        const { status, body } = await take(metadata);
        expect([status, body['metadata']]).toEqual([201, metadata]);
        const { id, epoch } = body as { id: string; epoch: number };
        await site.ask(server, `POST /v1/leases/${id}/release`, { token, body: { epoch } });
      }
      for (const [metadata, why] of REFUSED) {
        const refused = { code: 'INVALID_ARGUMENT', message: expect.stringMatching(why) as string };
        await expect(leases.acquire('library', { metadata, wait: 0 })).rejects.toMatchObject(refused);
        expect(await take(metadata)).toMatchObject({
          status: 400,
          body: { code: 'INVALID_ARGUMENT', detail: refused.message },
        });
        // As a client of its own making asks, which checks nothing.
        const item = {
          ...{ id: 'm0123456789abcdef0123456789', bornAt: Date.now(), owner: 'o', ttlMs: 60_000, priority: 0 },
          ...{ parts: [{ name: 'port', mode: 'exclusive', scope: 'node' }], join: false, holding: [], reclaim: false },
          ...{ maxRenewals: -1, minHoldMs: 0, lockDelayMs: 0, remote: true, callerWall: Date.now(), metadata },
        };
        const { body } = await site.ask(server, 'POST /v1/store/acquire', { token, body: { args: [[item]] } });
        expect(body['results']).toMatchObject([{ outcome: 'failed', problem: { detail: refused.message } }]);
      }
      await leases.shutdown();
    });
});
