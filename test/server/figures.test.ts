// Figures of the last hour over HTTP (O2, W1): what happens shows in them, and whoever asks again gets only what is new.
import { beforeEach, expect, test } from 'vitest';
import { anyText, matching, servedSite } from '../support/served-site.js';

const site = servedSite();

beforeEach(async () => {
  await (
    await site.start()
  ).ready;
});

interface Figures {
  readonly server: string;
  readonly everyMs: number;
  readonly items: readonly { readonly at: string; readonly [figure: string]: unknown }[];
}
const figures = async (query = ''): Promise<Figures> =>
  (await site.ask('GET', `/v1/figures${query}`)).json as unknown as Figures;

test('O2 W1: acquisitions, refusals, renewals and what is held show in the samples; after goes on', async () => {
  // What happened before the log was followed is in no sum.
  await expect.poll(async () => (await figures()).items.length, { timeout: 30_000 }).toBeGreaterThan(0);
  const { json } = await site.ask('POST', '/v1/leases', { resource: 'a', owner: 'ann' });
  await site.ask('POST', `/v1/leases/${json.id}/renew`, { epoch: json.epoch });
  expect(await site.ask('POST', '/v1/leases', { resource: 'a', owner: 'bob', wait: 0 })).toMatchObject({ status: 409 });
  await expect
    .poll(async () => (await figures()).items.at(-1), { timeout: 30_000 })
    .toMatchObject({ at: anyText, acquired: 1, refused: 1, renewed: 1, held: 1, waiting: 0, expired: 0, failed: 0 });
  const { items, server, everyMs } = await figures();
  expect(server).toMatch(/^server-/);
  expect(everyMs).toBeGreaterThan(0);
  const last = items.at(-1)?.at ?? '';
  const later = await figures(`?after=${encodeURIComponent(last)}`);
  expect(later.items.every(({ at }) => at > last)).toBe(true);
  expect(await site.ask('GET', '/v1/figures?after=yesterday')).toMatchObject({
    status: 400,
    json: { detail: matching(/after in the query: a time such as/) },
  });
});

test('W3 W4: figures need a token where there are some, and hold no name', async () => {
  await site.ask('POST', '/v1/leases', { resource: 'secret/name', owner: 'secret-owner' });
  await expect.poll(async () => (await figures()).items.length, { timeout: 30_000 }).toBeGreaterThan(0);
  expect(JSON.stringify(await figures())).not.toMatch(/secret/);
  await site.ask('POST', '/v1/tokens', { name: 'root', role: 'admin' });
  expect(await site.ask('GET', '/v1/figures')).toMatchObject({ status: 401 });
});
