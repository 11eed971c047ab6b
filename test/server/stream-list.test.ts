// Streams in pages (W1, W2), for callers that may see all of them and for one that is bound to a prefix (W3): its pages are full
// of what it may see, however much stands before and behind it, and `more` is about that alone.
import { expect, test } from 'vitest';
import { connect } from '../../src/index.js';
import { openSqlite } from '../../src/stores/sqlite/index.js';
import { systemClock } from '../../src/system-clock.js';
import { commandSite } from '../support/command-site.js';
import { servedSite } from '../support/served-site.js';

const site = servedSite();
const command = commandSite();

async function serve(): Promise<void> {
  const { ready } = await site.start();
  await ready;
}

interface StreamPage {
  readonly items: readonly { readonly name: string }[];
  readonly more: boolean;
}

test('W1 W3: a bound caller gets its streams a page at a time, past those it may not see', async () => {
  await serve();
  for (const name of ['a', 'b', 'm', 'm-x', 'm/1', 'm/2', 'z']) {
    const leased = await site.ask('POST', `/v1/streams/${encodeURIComponent(name)}/lease`, {
      operationId: 'op',
      kind: 'k',
    });
    expect(leased.status).toBe(201);
  }
  const { json: root } = await site.ask('POST', '/v1/tokens', { name: 'root', role: 'admin' });
  const as = (secret: string) => ({ headers: { authorization: `Bearer ${secret}` } });
  const secretOf = (json: unknown): string => (json as { secret: string }).secret;
  const { json: made } = await site.ask(
    'POST',
    '/v1/tokens',
    { name: 'm', role: 'read', prefix: 'm' },
    as(secretOf(root)),
  );
  const walk = async (secret: string): Promise<string[][]> => {
    const pages: string[][] = [];
    for (let after = ''; pages.length < 10;) {
      const query = after === '' ? '' : `&after=${encodeURIComponent(after)}`;
      const { json } = await site.ask('GET', `/v1/streams?limit=2${query}`, undefined, as(secret));
      const { items, more } = json as unknown as StreamPage;
      pages.push(items.map(({ name }) => name));
      if (!more) return pages;
      after = items.at(-1)?.name ?? '';
      expect(after).not.toBe('');
    }
    return pages;
  };
  expect((await walk(secretOf(made))).flat()).toEqual(['m', 'm/1', 'm/2']);
  expect((await walk(secretOf(root))).flat().filter((name) => /^[abmz]/.test(name))).toEqual([
    ...['a', 'b', 'm', 'm-x', 'm/1', 'm/2', 'z'],
  ]);
});

interface ManualPage {
  readonly items: readonly { readonly stream: string; readonly number: number }[];
  readonly more: boolean;
}

/** One that may see everything, and one that is bound to `m`. */
async function tokens(): Promise<{ root: string; bound: string }> {
  const make = async (body: object, by: Record<string, string>): Promise<string> => {
    const { json } = await site.ask('POST', '/v1/tokens', body, { headers: by });
    return (json as unknown as { secret: string }).secret;
  };
  const root = await make({ name: 'root', role: 'admin' }, {});
  const bound = await make({ name: 'm', role: 'read', prefix: 'm' }, { authorization: `Bearer ${root}` });
  return { root, bound };
}

/** One item in each stream, written past any server: it would recover them by itself. */
async function waitForAPerson(names: readonly string[]): Promise<void> {
  const store = await openSqlite(site.url, { clock: systemClock() });
  const { sequences } = store;
  const item = { operationId: 'bad', kind: 'k', owner: 'o', ttlMs: 100, count: 1 };
  await sequences?.lease(names.map((stream) => ({ ...item, stream })));
  const order = { limit: 10, owner: 'o', ttlMs: 60_000, gapsToo: false };
  const claimed = new Map<string, number>();
  await expect
    .poll(async () => {
      for (const { stream, claimEpoch } of (await sequences?.claim(order))?.claimed ?? [])
        claimed.set(stream, claimEpoch);
      return claimed.size;
    })
    .toBe(names.length);
  const settlement = { to: 'manual', reason: 'no way', error: 'no disk' } as const;
  const settle = [...claimed].map(([stream, claimEpoch]) => ({ stream, operationId: 'bad', claimEpoch, settlement }));
  await sequences?.settle(settle);
  await store.close();
}

async function append(names: readonly string[]): Promise<void> {
  const item = { operationId: 'op', kind: 'k', operations: [1], owner: 'o', type: 'recommitted' };
  for (let at = 0; at < names.length; at += 200) {
    const args = [names.slice(at, at + 200).map((stream) => ({ ...item, stream }))];
    expect((await site.ask('POST', '/v1/store/sequences.append', { args })).status).toBe(200);
  }
}

test('W2 W3: over the store port a bound caller gets full pages of its streams, and `more` is about them', async () => {
  await serve();
  await append(['a', 'b', 'm', 'm-1', 'm-2', 'm-3', 'm.x', 'm/1', 'm/2', 'm/3', 'm0', 'z']);
  const { bound } = await tokens();
  const leases = await connect(site.server.url, { services: 'off', token: bound });
  const names = async (query: { after?: string; limit: number }): Promise<unknown> => {
    const { items, more } = await leases.streams(query);
    return [items.map(({ name }) => name), more];
  };
  expect(await names({ limit: 1 })).toEqual([['m'], true]);
  expect(await names({ limit: 2 })).toEqual([['m', 'm/1'], true]);
  expect(await names({ limit: 4 })).toEqual([['m', 'm/1', 'm/2', 'm/3'], false]);
  expect(await names({ limit: 2, after: 'a' })).toEqual([['m', 'm/1'], true]);
  expect(await names({ limit: 2, after: 'm/1' })).toEqual([['m/2', 'm/3'], false]);
  expect(await names({ limit: 2, after: 'm/3' })).toEqual([[], false]);
  expect(await names({ limit: 2, after: 'n' })).toEqual([[], false]);
  await leases.shutdown();
});

test('W2 W3: what waits for a person comes past streams the caller may not see', async () => {
  await waitForAPerson(['a', 'm-x', 'm/1', 'm/2', 'z']);
  await serve();
  const { bound } = await tokens();
  const page = async (query: object): Promise<unknown> => {
    const headers = { authorization: `Bearer ${bound}` };
    const { json } = await site.ask('POST', '/v1/store/sequences.manualItems', { args: [query] }, { headers });
    const { items, more } = json as unknown as ManualPage;
    return [items.map(({ stream, number }) => [stream, number]), more];
  };
  expect(await page({ limit: 1 })).toEqual([[['m/1', 1]], true]);
  const next = { stream: 'm/1', number: 1 };
  expect(await page({ limit: 1, after: next })).toEqual([[['m/2', 1]], false]);
  expect(await page({ limit: 9, after: { ...next, stream: 'm/2' } })).toEqual([[], false]);
});

test('C8 W3: seq ls ends for a bound token, however many streams there are beside its own', async () => {
  await serve();
  const others = Array.from({ length: 1_050 }, (_, n) => `b/${String(n).padStart(4, '0')}`);
  await append([...others, 'm/one', ...others.map((name) => `z${name}`)]);
  const { bound } = await tokens();
  command.env = { HOLDFAST_STORE: site.server.url, HOLDFAST_TOKEN: bound };
  const { code, out } = await command.run('seq', 'ls', '--json');
  const { items } = JSON.parse(out) as { items: readonly { name: string }[] };
  expect([code, items.map(({ name }) => name)]).toEqual([0, ['m/one']]);
});
