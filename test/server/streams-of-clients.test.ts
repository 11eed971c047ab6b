// Streams of clients (N3, W3): who may settle a number, and that what expires is recovered by the server, because its clients
// have no service of their own and may not be allowed to.
import { beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../../src/index.js';
import { servedSite } from '../support/served-site.js';

const site = servedSite();

beforeEach(async () => {
  await (
    await site.start()
  ).ready;
});

async function makeToken(body: object, by?: string): Promise<string> {
  const { json, status } = await site.ask('POST', '/v1/tokens', body, as(by));
  expect(status).toBe(201);
  return (json as unknown as { secret: string }).secret;
}
function as(secret: string | undefined) {
  return secret === undefined ? {} : { headers: { authorization: `Bearer ${secret}` } };
}
const post = (path: string, body: object, secret?: string) =>
  site.ask('POST', `/v1/streams/orders/${path}`, body, as(secret));

describe('W3: numbers of another owner', () => {
  test('are not committed, given up, looked at or handed out to a token that is bound to another', async () => {
    const root = await makeToken({ name: 'root', role: 'admin' });
    const alice = await makeToken({ name: 'alice', role: 'write', owner: 'alice' }, root);
    const mallory = await makeToken({ name: 'mallory', role: 'write', owner: 'mallory' }, root);
    const leased = await post('lease', { operationId: 'pay-1', kind: 'pay' }, alice);
    expect(leased.status).toBe(201);
    const { epoch } = leased.json;
    const number = { operationId: 'pay-1', epoch };
    expect((await post('lease', { operationId: 'pay-1', kind: 'pay' }, mallory)).status).toBe(403);
    expect((await post('commit', { ...number, operations: ['mallory'] }, mallory)).status).toBe(403);
    expect((await post('release', number, mallory)).status).toBe(403);

    const results = async (method: string, item: object): Promise<unknown> => {
      const body = { args: [[{ stream: 'orders', ...number, ...item }]] };
      const { json } = await site.ask('POST', `/v1/store/sequences.${method}`, body, as(mallory));
      return (json as unknown as { results: unknown }).results;
    };
    const forbidden = [{ outcome: 'failed', problem: expect.objectContaining({ code: 'FORBIDDEN' }) as object }];
    expect(await results('commit', { operations: ['mallory'] })).toEqual(forbidden);
    expect(await results('release', { reason: 'r' })).toEqual(forbidden);
    expect(await results('progress', { progress: { what: 'partial', work: 1 } })).toEqual(forbidden);
    const again = {
      args: [[{ stream: 'orders', operationId: 'pay-1', kind: 'pay', count: 1, ttlMs: 1_000, owner: 'mallory' }]],
    };
    const { json } = await site.ask('POST', '/v1/store/sequences.lease', again, as(mallory));
    expect((json as unknown as { results: unknown }).results).toEqual(forbidden);

    expect((await post('commit', { ...number, operations: ['alice'] }, alice)).status).toBe(200);
  });

  test('are for admins, and for tokens that may act as anybody', async () => {
    const root = await makeToken({ name: 'root', role: 'admin' });
    const free = await makeToken({ name: 'free', role: 'write' }, root);
    const alice = await makeToken({ name: 'alice', role: 'write', owner: 'alice' }, root);
    for (const [at, secret] of [root, free].entries()) {
      const operationId = `op-${at}`;
      const { epoch } = (await post('lease', { operationId, kind: 'k' }, alice)).json;
      expect((await post('commit', { operationId, epoch, operations: [at] }, secret)).status).toBe(200);
    }
  });
});

describe('N3: what expired', () => {
  const read = async (): Promise<{ watermark: number }> =>
    (await site.ask('GET', '/v1/streams/orders/numbers')).json as unknown as { watermark: number };

  test('is recovered when somebody reads over REST', async () => {
    await post('lease', { operationId: 'lost', kind: 'k', ttl: '100ms' });
    const { epoch } = (await post('lease', { operationId: 'kept', kind: 'k' })).json;
    await post('commit', { operationId: 'kept', epoch, operations: [1] });
    await expect.poll(read, { timeout: 15_000 }).toMatchObject({ watermark: 2 });
  });

  test('is recovered for a write token that waits, in the served namespace and in another', async () => {
    const root = await makeToken({ name: 'root', role: 'admin' });
    const token = await makeToken({ name: 'ci', role: 'write' }, root);
    for (const namespace of ['default', 'other']) {
      const leases = await connect(site.server.url, { token, namespace, services: 'off' });
      const stream = leases.sequence<number>('orders');
      await stream.lease({ operationId: 'lost', kind: 'k', ttl: 100 });
      await (await stream.lease({ operationId: 'kept', kind: 'k' })).commit(1);
      await stream.waitFor(2, { timeout: '15s' });
      expect(await stream.watermark()).toBeGreaterThanOrEqual(1);
      await leases.shutdown();
    }
  });

  test('O1: is recovered by a server that is started later, though nobody looks', async () => {
    await post('lease', { operationId: 'lost', kind: 'k', ttl: '100ms' });
    await site.server.stop();
    const later = await site.start();
    await later.ready;
    const figures = async (): Promise<unknown> => {
      const { json } = await site.ask('GET', '/v1/streams/orders', undefined, { server: later });
      return (json as unknown as { watermark: number }).watermark;
    };
    await site.ask('PATCH', '/v1/config', { cleanup_interval_seconds: 1 }, { server: later });
    await expect.poll(figures, { timeout: 45_000, interval: 500 }).toBe(1);
  });
});
