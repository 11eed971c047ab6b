// What a lease over HTTP may be given is bounded where the contract bounds it (section 14), no sooner and no later.
import { expect, test } from 'vitest';
import { ServeSite } from '../support/serve-site.js';

const site = new ServeSite();

test('S18, W1, W3: 1,024 leases are named as held, each of them looked at, by an acquire and by an upgrade', async () => {
  const server = await site.serve();
  const admin = await site.token(server, { name: 'root', role: 'admin' });
  const token = await site.token(server, { name: 'ci', role: 'write' }, admin);
  const take = (by: string, body: object) => site.ask(server, 'POST /v1/leases', { token: by, body });
  const foreign = (await take(admin, { resource: 'foreign' })).body['id'] as string;
  const { id, epoch } = (await take(token, { resource: 'shared', mode: 'shared' })).body as {
    id: string;
    epoch: number;
  };
  const ids = (count: number) => Array.from({ length: count }, (_, n) => `an-id-of-a-lease-${n}`);
  const orders: readonly [path: string, body: object, status: number][] = [
    ['/v1/leases', { resource: 'a' }, 201],
    [`/v1/leases/${id}/upgrade`, { epoch }, 200],
  ];
  for (const [path, body, status] of orders) {
    const ask = (holding: readonly string[]) =>
      site.ask(server, `POST ${path}`, { token, body: { ...body, wait: 0, holding } });
    expect((await ask(ids(1_025))).status, path).toBe(400);
    expect(await ask([...ids(1_023), foreign]), path).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } });
    expect((await ask(ids(1_024))).status, path).toBe(status);
  }
});

test.each([
  ['a lease', 'POST /v1/leases', { resource: 'a' }],
  ['a number', 'POST /v1/streams/orders/lease', { kind: 'k' }],
])(
  'S18, W1: the operation id of %s has up to 1,024 bytes, and one that is longer is told so',
  async (_of, path, body) => {
    const server = await site.serve();
    const ask = (operationId: string) => site.ask(server, path, { body: { ...body, operationId } });
    const tooLong = { status: 400, body: { detail: 'operationId is from 1 to 1024 bytes of UTF-8, got 1026' } };
    expect(await ask('x'.repeat(1_026))).toMatchObject(tooLong);
    expect(await ask('ä'.repeat(513))).toMatchObject(tooLong);
    expect((await ask('x'.repeat(1_024))).status).toBe(201);
  },
);
