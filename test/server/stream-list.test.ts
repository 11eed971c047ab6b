// Streams in pages (W1), for callers that may see all of them and for one that is bound to a prefix (W3): its pages are full
// of what it may see, however much stands before it.
import { beforeEach, expect, test } from 'vitest';
import { servedSite } from '../support/served-site.js';

const site = servedSite();

beforeEach(async () => {
  await (
    await site.start()
  ).ready;
});

interface StreamPage {
  readonly items: readonly { readonly name: string }[];
  readonly more: boolean;
}

test('W1 W3: a bound caller gets its streams a page at a time, past those it may not see', async () => {
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
