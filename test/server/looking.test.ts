// Looking, governing and streams over HTTP (W1): lists with cursors, one resource, history as JSON and CSV, settings, the
// clock, who asks, alerts, the doctor, metrics; and a stream from its first number to its trim.
import { beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { connect } from '../../src/connect.js';
import { LeaseError } from '../../src/domain/errors.js';
import { Holdfast } from '../../src/holdfast.js';
import { anyList, anyText, matching, servedSite } from '../support/served-site.js';

const site = servedSite();

beforeEach(async () => {
  await (
    await site.start({ version: '9.9.9' })
  ).ready;
});

test('W1: lists are pages with a cursor, and filters bound them', async () => {
  for (let n = 0; n < 5; n += 1) await site.ask('POST', '/v1/leases', { resource: `a/${n}`, owner: `o${n}` });
  await site.ask('POST', '/v1/leases', { resource: 'b', owner: 'o0' });
  const first = await site.ask('GET', '/v1/leases?prefix=a&limit=3');
  expect(first.json.items).toHaveLength(3);
  const second = await site.ask('GET', `/v1/leases?prefix=a&limit=3&cursor=${encodeURIComponent(first.json.cursor)}`);
  expect(second.json.items).toHaveLength(2);
  expect(second.json.cursor).toBeUndefined();
  expect((await site.ask('GET', '/v1/leases?owner=o0')).json.items).toHaveLength(2);
  expect(await site.ask('GET', '/v1/leases?limit=0')).toMatchObject({ status: 400 });
  expect(await site.ask('GET', '/v1/leases/nosuchlease')).toMatchObject({ status: 404, json: { code: 'NOT_HELD' } });
});

test('W1: leases and tickets are looked up by id, many at once, as they are now', async () => {
  const one = await site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ann' });
  const two = await site.ask('POST', '/v1/leases', { resource: 'b', owner: 'bob' });
  await site.ask('POST', `/v1/leases/${two.json.id}/release`, { epoch: two.json.epoch });
  const unknown = 'nosuchleasenosuchlease';
  const found = await site.ask('GET', `/v1/lookup?ids=${one.json.id},${unknown},${two.json.id},${one.json.id}`);
  expect(found.status).toBe(200);
  expect(found.json.items.map(({ owner, status }) => [owner, status])).toEqual([
    ['ann', 'active'],
    ['bob', 'released'],
  ]);
  const many = Array.from({ length: 101 }, (_, n) => `${unknown}${n}`).join(',');
  for (const ids of ['', 'a b', 'x,,y', many]) {
    const refused = await site.ask('GET', `/v1/lookup?ids=${encodeURIComponent(ids)}`);
    expect(refused, ids).toMatchObject({
      status: 400,
      json: { code: 'INVALID_ARGUMENT', detail: matching(/at most 100/) },
    });
  }
});

test('W1: one resource shows holders, queue and events', async () => {
  await site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ann' });
  expect(await site.ask('GET', '/v1/resource?name=a')).toMatchObject({
    status: 200,
    json: { holders: [{ owner: 'ann' }], queue: [], blockedMs: 0, history: [{ type: 'lease.acquired' }] },
  });
  for (const [history, events] of [
    ['0', 0],
    ['1', 1],
  ] as const) {
    const { json } = await site.ask('GET', `/v1/resource?name=a&history=${history}`);
    expect(json).toMatchObject({
      holders: [{ owner: 'ann' }],
      history: Array(events).fill({ type: 'lease.acquired' }),
    });
  }
  for (const history of ['-1', '1001', 'x', '']) {
    const refused = await site.ask('GET', `/v1/resource?name=a&history=${history}`);
    expect(refused, history).toMatchObject({
      status: 400,
      json: { code: 'INVALID_ARGUMENT', detail: matching(/history.*(whole number|from 0 to 1000)/) },
    });
  }
});

test('W1: history is CSV for whoever asks for it, whole and safe for a spreadsheet', async () => {
  for (let n = 0; n < 3; n += 1) await site.ask('POST', '/v1/leases', { resource: `a/${n}`, owner: `=cmd("${n}"),x` });
  const asked = await site.ask('GET', '/v1/history', undefined, { headers: { accept: 'text/csv' } });
  expect(asked.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  const lines = asked.text.split('\r\n');
  expect(lines[0]).toBe(
    'id,type,at,wallAt,namespace,resource,leaseId,owner,epoch,from,to,actor,reason,error,sentence,data',
  );
  const acquired = lines.filter((line) => line.includes('lease.acquired'));
  expect(acquired).toHaveLength(3);
  expect(acquired[0]).toContain(`"'=cmd(""2""),x"`);
  expect((await site.ask('GET', '/v1/history?format=csv&limit=2')).text.trim().split('\r\n')).toHaveLength(3);
  const { json } = await site.ask('GET', '/v1/history?type=lease.acquired&limit=2');
  expect(json.items).toHaveLength(2);
  expect(json.cursor).toEqual(anyText);
});

test('W1: more history than one page comes as CSV in pages, each row once', async () => {
  const leases = await connect(site.url, { services: 'off' });
  const rounds = Array.from({ length: 1_300 }, (_, n) => leases.withLease(`many/${n}`, async () => undefined));
  await Promise.all(rounds);
  await leases.shutdown();
  const { text } = await site.ask('GET', '/v1/history?format=csv&prefix=many');
  const ids = text
    .trim()
    .split('\r\n')
    .slice(1)
    .map((line) => line.split(',')[0]);
  expect(ids).toHaveLength(2_600);
  expect(new Set(ids).size).toBe(2_600);
});

test('W5: history as CSV that cannot be read is a problem; past its first page the client is cut, and the log says why', async () => {
  const printed = vi.spyOn(console, 'error');
  const read = vi.spyOn(Holdfast.prototype, 'history');
  onTestFinished(() => void vi.restoreAllMocks());
  const away = new LeaseError('STORE_UNAVAILABLE', 'the store is away');
  read.mockRejectedValueOnce(away);
  expect(await site.ask('GET', '/v1/history?format=csv')).toMatchObject({
    status: 503,
    json: { code: 'STORE_UNAVAILABLE', detail: 'the store is away' },
  });
  expect(site.log.filter(({ level }) => level === 'error')).toEqual([]);
  read.mockResolvedValueOnce({ items: [], cursor: 'more' }).mockRejectedValueOnce(away);
  await expect(site.ask('GET', '/v1/history?format=csv')).rejects.toThrow();
  expect(site.log.filter(({ level }) => level === 'error')).toMatchObject([
    { message: matching(/history/), facts: { err: away } },
  ]);
  expect(printed).not.toHaveBeenCalled();
  expect((await site.ask('GET', '/v1/history?format=csv')).status).toBe(200);
});

test('O4 W1: settings are read and changed, all or none', async () => {
  expect(await site.ask('GET', '/v1/config')).toMatchObject({ status: 200, json: { default_ttl_seconds: 3600 } });
  expect(await site.ask('PATCH', '/v1/config', { default_ttl_seconds: 60, max_renewals: 5 })).toMatchObject({
    status: 200,
    json: { default_ttl_seconds: 60, max_renewals: 5 },
  });
  const refused = await site.ask('PATCH', '/v1/config', { max_renewals: 7, no_such_key: 1 });
  expect(refused).toMatchObject({
    status: 400,
    json: { detail: matching(/unknown setting "no_such_key"/) },
  });
  expect((await site.ask('GET', '/v1/config')).json.max_renewals).toBe(5);
  expect(await site.ask('POST', '/v1/leases', { resource: 'a' })).toMatchObject({
    json: { ttlMs: 60_000, maxRenewals: 5 },
  });
});

test('O4 W1: every setting is told with what it does, what it takes and what it is by default', async () => {
  const { json: now } = await site.ask('GET', '/v1/config');
  const values = new Map<string, unknown>(Object.entries(now));
  const { json: rules } = await site.ask('GET', '/v1/config/rules');
  expect(rules.items.map(({ key }) => key)).toEqual([...values.keys()]);
  for (const rule of rules.items) {
    expect(rule, rule.key).toMatchObject({
      default: values.get(rule.key),
      about: matching(/^[A-Z].+\.$/),
      allowed: anyText,
    });
  }
  expect(rules.items.find(({ key }) => key === 'max_lock_age_action')).toMatchObject({ choices: ['report', 'revoke'] });
});

test('W1: time, wait graph, sweep, who asks, alerts and the doctor have an address', async () => {
  expect(await site.ask('GET', '/v1/time')).toMatchObject({ status: 200, json: { storeNow: anyText } });
  expect(await site.ask('GET', '/v1/wait-graph')).toMatchObject({ status: 200, json: { tickets: [] } });
  expect(await site.ask('POST', '/v1/sweep')).toMatchObject({ status: 200, json: { expired: 0 } });
  expect(await site.ask('GET', '/v1/whoami')).toMatchObject({
    status: 200,
    json: { role: 'admin', namespace: 'default', store: 'sqlite', version: '9.9.9' },
  });
  const { json: alerts } = await site.ask('GET', '/v1/alerts');
  expect(alerts.items.length).toBeGreaterThan(0);
  expect(await site.ask('GET', '/v1/doctor')).toMatchObject({ status: 200, json: { findings: anyList } });
  expect(await site.ask('GET', '/nothing/here')).toMatchObject({ status: 404, json: { code: 'INVALID_ARGUMENT' } });
});

test('O2 W1: the leases of a library client show in the metrics of the server', async () => {
  const leases = await connect(site.url, { services: 'off' });
  await leases.acquire('a');
  await expect
    .poll(async () => (await site.ask('GET', '/metrics')).text, { timeout: 10_000 })
    .toMatch(/^active_leases\{status="active"\} 1$/m);
  await leases.shutdown();
});

test('N1 N2 W1: a stream is leased, committed, read, trimmed', async () => {
  const stream = '/v1/streams/orders%2Flog';
  const leased = await site.ask('POST', `${stream}/lease`, { operationId: 'op-1', kind: 'order', count: 2 });
  expect(leased).toMatchObject({ status: 201, json: { first: 1, numbers: [1, 2], again: false } });
  const { epoch } = leased.json;
  expect(await site.ask('POST', `${stream}/lease`, { operationId: 'op-1', kind: 'order', count: 2 })).toMatchObject({
    json: { first: 1, again: true },
  });
  const commit = { operationId: 'op-1', epoch, operations: [{ a: 1 }, { a: 2 }] };
  expect(await site.ask('POST', `${stream}/commit`, commit)).toMatchObject({ json: { number: 1, repeated: false } });
  expect(await site.ask('POST', `${stream}/commit`, commit)).toMatchObject({ json: { number: 1, repeated: true } });
  expect(await site.ask('POST', `${stream}/lease`, { operationId: 'op-1', kind: 'order', count: 2 })).toMatchObject({
    status: 409,
    json: { code: 'SEQUENCE_SETTLED' },
  });
  const { json: given } = await site.ask('POST', `${stream}/lease`, { operationId: 'op-2', kind: 'order' });
  await site.ask('POST', `${stream}/release`, { operationId: 'op-2', epoch: given.epoch, reason: 'not needed' });
  expect(await site.ask('GET', `${stream}/gaps`)).toMatchObject({
    json: { items: [{ number: 3, reason: 'not needed' }] },
  });
  expect(await site.ask('GET', `${stream}/numbers?peek=true`)).toMatchObject({
    json: { items: [{ operation: { a: 1 } }, { operation: { a: 2 } }, { state: 'gap' }], watermark: 3, next: 4 },
  });
  expect(
    await site.ask('POST', `${stream}/fill`, { number: 3, operationId: 'op-2', operations: ['late'] }),
  ).toMatchObject({ json: { number: 3, how: 'filled' } });
  expect((await site.ask('GET', `${stream}/numbers?from=3`)).json.items).toMatchObject([{ state: 'filled' }]);
  expect(await site.ask('GET', '/v1/streams')).toMatchObject({ json: { items: [{ name: 'orders/log', leased: 3 }] } });
  expect(await site.ask('GET', stream)).toMatchObject({ json: { watermark: 3, gaps: 0, readers: [] } });
  expect(await site.ask('GET', `${stream}/readers`)).toMatchObject({ json: { items: [] } });
  expect(await site.ask('DELETE', `${stream}/readers/nobody`)).toMatchObject({ status: 404 });
  expect(await site.ask('GET', `${stream}/manual`)).toMatchObject({ json: { items: [] } });
  expect(await site.ask('POST', `${stream}/manual`, { operationId: 'x', act: 'retry' })).toMatchObject({ status: 404 });
  expect(await site.ask('POST', `${stream}/trim`, { before: 3 })).toMatchObject({ json: { removed: 2 } });
  expect(await site.ask('GET', '/v1/streams/unknown')).toMatchObject({ status: 404 });
});
