// Tokens between real servers of one store (W3): made at one, known at the other; what each role, prefix and owner may; what
// happens to those who wait when theirs is taken away.
import { describe, expect, test } from 'vitest';
import { connect } from '../../src/index.js';
import type { RunningServer } from '../../src/server/serve.js';
import { ServeSite, type Answer } from '../support/serve-site.js';

const site = new ServeSite();

async function until(isSo: () => Promise<boolean>): Promise<number> {
  const began = performance.now();
  while (!(await isSo())) if (performance.now() - began > 10_000) throw new Error('not within 10 s');
  return performance.now() - began;
}
const take = (server: RunningServer, token: string | undefined, resource: string, more: object = {}): Promise<Answer> =>
  site.ask(server, 'POST /v1/leases', { token, body: { resource, ttl: '1m', wait: 0, ...more } });

describe('W3: tokens', () => {
  test('W3, W4: the first token shuts the door, at every server within a second, and it stays shut', async () => {
    const [one, two] = [await site.serve(), await site.serve()];
    expect((await site.ask(two, 'GET /v1/leases')).status).toBe(200);
    const admin = await site.token(one, { name: 'ops', role: 'admin' });
    expect((await site.ask(one, 'GET /v1/leases')).status).toBe(401);
    const shutMs = await until(async () => (await site.ask(two, 'GET /v1/leases')).status === 401);
    expect(shutMs).toBeLessThan(1_000);
    expect((await site.ask(two, 'GET /v1/leases', { token: admin })).status).toBe(200);
    const refused = await site.ask(two, 'GET /v1/leases');
    expect(refused.headers.get('www-authenticate')).toBe('Bearer');
    expect(refused.body).toMatchObject({ code: 'UNAUTHORIZED', status: 401 });
    const { status } = await site.ask(one, 'DELETE /v1/tokens/ops', { token: admin });
    expect(status).toBe(200);
    await until(async () => (await site.ask(two, 'GET /v1/leases', { token: admin })).status === 401);
    expect((await site.ask(one, 'GET /v1/leases')).status).toBe(401);
    const three = await site.serve();
    expect((await site.ask(three, 'GET /v1/leases')).status).toBe(401);
    expect((await site.ask(three, 'GET /healthz')).status).toBe(200);
  });

  test('W3: wrong, mutilated and foreign tokens are one refusal', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'ops', role: 'admin' });
    const last = admin.endsWith('A') ? 'B' : 'A';
    const wrong = [
      `${admin.slice(0, -1)}${last}`,
      admin.slice(0, -1),
      `${admin}x`,
      'hf_x',
      'x',
      `hf_${'0'.repeat(16)}_${'a'.repeat(43)}`,
    ];
    const answers = await Promise.all(wrong.map((token) => site.ask(server, 'GET /v1/whoami', { token })));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([401]));
    expect(new Set(answers.map(({ body }) => body['detail'])).size).toBe(1);
    for (const authorization of [`Basic ${admin}`, admin, 'Bearer', `Bearer ${admin}, Bearer ${admin}`])
      expect((await site.ask(server, 'GET /v1/whoami', { headers: { authorization } })).status).toBe(401);
    expect((await site.ask(server, 'GET /v1/whoami', { token: admin })).body).toMatchObject({ role: 'admin' });
  });

  test('W3: each role may what it may', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'ops', role: 'admin' });
    const token = (role: string): Promise<string> => site.token(server, { name: role, role }, admin);
    const [read, write] = [await token('read'), await token('write')];
    expect((await take(server, read, 'a')).status).toBe(403);
    const { id, epoch } = (await take(server, write, 'a')).body as { id: string; epoch: number };
    for (const asker of [read, write, admin])
      expect((await site.ask(server, 'GET /v1/leases', { token: asker })).status).toBe(200);
    expect((await site.ask(server, `POST /v1/leases/${id}/renew`, { token: read, body: { epoch } })).status).toBe(403);
    const order = { resource: 'a', reason: 'test' };
    expect((await site.ask(server, 'POST /v1/revocations', { token: write, body: order })).status).toBe(403);
    expect((await site.ask(server, 'GET /v1/tokens', { token: write })).status).toBe(403);
    expect(
      (await site.ask(server, 'POST /v1/tokens', { token: write, body: { name: 'x', role: 'read' } })).status,
    ).toBe(403);
    expect((await site.ask(server, 'POST /v1/revocations', { token: admin, body: order })).status).toBe(200);
  });

  test('W3: a lease is touched by the token that took it, one bound to its owner, and admins', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'ops', role: 'admin' });
    const made = (name: string, more: object = {}): Promise<string> =>
      site.token(server, { name, role: 'write', ...more }, admin);
    const [mine, other, bound] = [await made('mine'), await made('other'), await made('bound', { owner: 'w7' })];
    const taken = await take(server, mine, 'a', { owner: 'w7', metadata: { note: 1 } });
    expect(taken.body).toMatchObject({ owner: 'w7', metadata: { note: 1 } });
    const { id, epoch } = taken.body as { id: string; epoch: number };
    const renew = async (token: string): Promise<number> =>
      (await site.ask(server, `POST /v1/leases/${id}/renew`, { token, body: { epoch } })).status;
    expect([await renew(mine), await renew(other), await renew(bound), await renew(admin)]).toEqual([
      200, 403, 200, 200,
    ]);
    expect((await site.ask(server, `POST /v1/leases/${id}/release`, { token: other, body: { epoch } })).status).toBe(
      403,
    );
    expect((await take(server, other, 'b', { holding: [id] })).status).toBe(403);
    expect((await take(server, mine, 'b', { holding: [id] })).status).toBe(201);
    expect((await take(server, bound, 'c', { owner: 'w8' })).status).toBe(403);
    expect((await take(server, bound, 'c')).body).toMatchObject({ owner: 'w7' });
    expect((await take(server, other, 'a', { owner: 'w7', reclaim: true })).status).toBe(403);
    expect((await site.ask(server, `GET /v1/leases/${id}`, { token: other })).body).toMatchObject({
      metadata: { note: 1 },
    });
    expect((await site.ask(server, `POST /v1/leases/${id}/release`, { token: mine, body: { epoch } })).status).toBe(
      200,
    );
  });

  test('W3: a prefix bounds lists, history, tickets, the graph and the details of refusals', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'ops', role: 'admin' });
    const eu = await site.token(server, { name: 'eu', role: 'write', prefix: 'orders/eu' }, admin);
    const outside = { owner: 'secret-owner', metadata: { x: 'secret-note' } };
    const { body: us } = await take(server, admin, 'orders/us/secret-1', outside);
    await take(server, eu, 'orders/eu/1');
    const { body: both } = await take(server, admin, 'unused', {
      owner: 'secret-owner',
      resource: undefined,
      resources: ['orders/us/secret-2', 'orders/eu/2'],
    });
    expect((await take(server, eu, 'orders/us/9')).status).toBe(403);
    expect((await take(server, eu, 'orders/eu2')).status).toBe(403);
    const looks = [
      '/v1/leases',
      '/v1/history',
      '/v1/tickets',
      '/v1/wait-graph',
      '/v1/leases?prefix=orders',
      '/v1/history?format=csv',
      `/v1/lookup?ids=${String(us['id'])},${String(both['id'])}`,
    ];
    for (const path of looks) {
      const response = await fetch(`${server.url}${path}`, { headers: { authorization: `Bearer ${eu}` } });
      const text = await response.text();
      expect(response.status, path).toBe(200);
      expect(text, path).not.toMatch(/secret-1|secret-2|secret-note/);
      if (/leases|history|lookup/.test(path)) expect(text, path).toContain('orders/eu/2');
    }
    expect((await site.ask(server, 'GET /v1/leases?prefix=orders/us', { token: eu })).status).toBe(403);
    expect((await site.ask(server, 'GET /v1/resource?name=orders/us/secret-1', { token: eu })).status).toBe(403);
    await site.ask(server, 'POST /v1/revocations', { token: admin, body: { under: 'orders', reason: 'make room' } });
    await take(server, admin, 'orders', { owner: 'secret-owner', scope: 'subtree' });
    const refused = await take(server, eu, 'orders/eu/1');
    expect(refused).toMatchObject({ status: 409, body: { refusal: { reason: 'held', holders: [], holderCount: 1 } } });
    expect(JSON.stringify(refused.body)).not.toContain('secret-owner');
    expect((await site.ask(server, 'PATCH /v1/config', { token: eu, body: { keep_history: false } })).status).toBe(403);
    const bounded = await site.token(server, { name: 'eu-ops', role: 'admin', prefix: 'orders/eu' }, admin);
    expect((await site.ask(server, 'PATCH /v1/config', { token: bounded, body: { keep_history: false } })).status).toBe(
      403,
    );
    expect(
      (await site.ask(server, 'POST /v1/tokens', { token: bounded, body: { name: 'up', role: 'admin' } })).status,
    ).toBe(403);
    expect((await site.ask(server, 'GET /v1/tokens', { token: bounded })).body['items']).toHaveLength(2);
  });

  test('W3, W5: revoked while it waits, a request ends with 401 and its ticket with it', async () => {
    const [one, two] = [await site.serve(), await site.serve()];
    const admin = await site.token(one, { name: 'ops', role: 'admin' });
    const ci = await site.token(one, { name: 'ci', role: 'write' }, admin);
    await take(one, admin, 'a');
    const tickets = async (): Promise<number> =>
      ((await site.ask(one, 'GET /v1/tickets', { token: admin })).body['items'] as unknown[]).length;
    await until(async () => (await site.ask(two, 'GET /v1/whoami', { token: ci })).status === 200);
    const waiting = take(two, ci, 'a', { wait: '1m' });
    await until(async () => (await tickets()) === 1);
    await site.ask(one, 'DELETE /v1/tokens/ci', { token: admin });
    const revokedAt = performance.now();
    expect(await waiting).toMatchObject({ status: 401, body: { code: 'UNAUTHORIZED' } });
    expect(performance.now() - revokedAt).toBeLessThan(1_500);
    await until(async () => (await tickets()) === 0);
  });

  test('W3, W4: with the first token what was opened without one ends: a wait, and a stream of events', async () => {
    const server = await site.serve();
    const ask = (path: string, more: RequestInit = {}): Promise<Response> => fetch(`${server.url}${path}`, more);
    const body = JSON.stringify({ resource: 'a', wait: '1m' });
    const events = (await ask('/v1/events')).text();
    await take(server, undefined, 'a');
    const waiting = ask('/v1/leases', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    await until(async () => ((await (await ask('/v1/tickets')).json()) as { items: unknown[] }).items.length === 1);
    const admin = await site.token(server, { name: 'ops', role: 'admin' });
    const answer = await waiting;
    expect([answer.status, await answer.text()]).toEqual([401, expect.stringContaining('a token was made meanwhile')]);
    await events;
    const tickets = await site.ask(server, 'GET /v1/tickets', { token: admin });
    expect(tickets.body['items']).toEqual([]);
  });

  test('W3, W5: expired while it waits, a request ends with 401', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'ops', role: 'admin' });
    await take(server, admin, 'a');
    const brief = await site.token(server, { name: 'brief', role: 'write', expiresIn: '2s' }, admin);
    expect(await take(server, brief, 'a', { wait: '1m' })).toMatchObject({ status: 401 });
    const { status, body } = await site.ask(server, 'GET /v1/leases', { token: brief });
    expect([status, body['detail']]).toEqual([401, 'this token has expired: ask for a new one']);
    expect((await site.ask(server, 'GET /v1/tokens', { token: admin })).body['items']).toHaveLength(2);
  });

  test('W3: who did what through which token is in the log, and no secret is', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'ops', role: 'admin' });
    const ci = await site.token(server, { name: 'ci', role: 'write' }, admin);
    const { id, epoch } = (await take(server, ci, 'a')).body as { id: string; epoch: number };
    await take(server, ci, 'a');
    await site.ask(server, `POST /v1/leases/${id}/release`, { token: ci, body: { epoch } });
    await take(server, ci, 'a');
    await site.ask(server, 'POST /v1/revocations', { token: admin, body: { resource: 'a', reason: 'done' } });
    await site.ask(server, `GET /v1/leases?token=${ci}`);
    await site.ask(server, 'GET /v1/leases', { token: `${ci}x` });
    const audit = site.log.filter((line) => line.includes('"audit":true'));
    expect(audit.filter((line) => line.includes('"tokenName":"ci"')).length).toBeGreaterThanOrEqual(4);
    expect(audit.join('\n')).toContain(id);
    expect(audit.join('\n')).toContain('ACQUIRE_TIMEOUT');
    for (const token of [admin, ci]) expect(site.log.join('\n')).not.toContain(token.slice(-43));
    const history = (await site.ask(server, 'GET /v1/history?type=lease.revoked', { token: admin })).body;
    expect((history['items'] as { actor: string }[])[0]?.actor).toBe('token ops');
  });

  test('W3: the doctor, who tells what holders of one name hold elsewhere, is not for a bounded token', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'ops', role: 'admin' });
    const eu = await site.token(server, { name: 'eu', role: 'read', prefix: 'orders/eu' }, admin);
    const ask = async (token: string, query: string): Promise<number> =>
      (await site.ask(server, `GET /v1/doctor${query}`, { token })).status;
    expect(await ask(eu, '?resource=orders/eu/1')).toBe(403);
    expect(await ask(eu, '')).toBe(403);
    expect(await ask(admin, '?resource=orders/eu/1')).toBe(200);
  });

  test('W3: the store of tokens cannot be reached by naming its namespace', async () => {
    const server = await site.serve();
    const admin = await site.token(server, { name: 'ops', role: 'admin' });
    const body = { requests: [] };
    const headers = { 'holdfast-namespace': '_holdfast-server' };
    const { status } = await site.ask(server, 'POST /v1/store/sequences.append', { token: admin, body, headers });
    expect(status).toBeGreaterThanOrEqual(400);
    const leases = await connect(site.storeUrl, { namespace: 'default', services: 'off' });
    expect((await leases.streams()).items).toEqual([]);
    await leases.shutdown();
  });
});
