// Many of everything: ten thousand leases, a thousand who wait for one. Rows exist where somebody looks.
import { beforeAll, describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/stores/sqlite/index.js';
import { systemClock } from '../../src/system-clock.js';
import { ask } from '../support/ask.js';
import { isSkipped } from '../support/servers/server-process.js';
import { BrowserSite } from './support/browser-site.js';

const LEASES = 10_000;
const WAITERS = 1_000;
const STEP = 250;
const MOST_ROWS = 200;

describe.skipIf(isSkipped('chromium'))('many', () => {
  const site = new BrowserSite();

  beforeAll(async () => {
    const clock = systemClock();
    const store = await openSqlite(site.server.store, { clock, namespace: 'default', migrate: 'check' });
    try {
      for (let done = 0; done < LEASES; done += STEP) {
        const names = Array.from({ length: STEP }, (_, i) => `many/${String(done + i).padStart(5, '0')}`);
        const wanted = await Promise.all(
          names.map((name) => ask(store, clock, name, { ttlMs: 3_600_000, owner: 'filler' })),
        );
        const { results } = await store.acquire(wanted);
        expect(results.every(({ outcome }) => outcome === 'granted')).toBe(true);
      }
    } finally {
      await store.close();
    }
  });

  test('W1: ten thousand leases are fewer than 200 rows, from the first to the last', async () => {
    const tab = await site.open('/now');
    await tab.sees('10,000 held');
    await tab.sees(tab.row('many/00000'));
    expect(await tab.count('[role=row], tr')).toBeLessThan(MOST_ROWS);
    const table = tab.page.getByRole('table', { name: 'Leases' });
    expect(await table.getAttribute('aria-rowcount')).toBe('10001');
    await tab.page.evaluate(
      `{ const table = document.querySelector('[role=table]'); table.scrollTop = table.scrollHeight; }`,
    );
    await tab.sees(tab.row('many/09999'));
    expect(await tab.count('[role=row], tr')).toBeLessThan(MOST_ROWS);
    await tab.page.evaluate(`document.querySelector('[role=table]').scrollTop = 0`);
    await tab.sees(tab.row('many/00000'));
    await tab.page.getByLabel('Name begins with').fill('many/0777');
    await tab.sees(tab.row('many/07779'));
    await tab.misses(tab.row('many/00000'));
  });

  test('W1: the tree of ten thousand opens where one asks', async () => {
    const tab = await site.open('/now?as=tree');
    await tab.page.getByRole('button', { name: 'below many', exact: true }).click();
    await tab.sees(tab.row('00000'));
    expect(await tab.count('[role=row], tr')).toBeLessThan(MOST_ROWS);
  });

  test('W1, Q1: a thousand who wait for one resource are told, in order, in fewer than 200 rows', async () => {
    const { server } = site;
    const { id, epoch } = await server.take({ resource: 'crowd', owner: 'holder' });
    const tab = await site.open('/now?prefix=crowd');
    await server.wait('crowd', 'waiter-0');
    await tab.sees(tab.row('crowd').getByText('1 waiting'));
    for (let n = 1; n < WAITERS; n += 1) {
      const wanted = { resource: 'crowd', owner: `waiter-${n}`, ttl: '5m', wait: '10m' };
      server.ask('POST /v1/leases', wanted).catch(() => undefined);
    }
    await tab
      .row('crowd')
      .getByText(/^1,?000 waiting$/)
      .waitFor({ timeout: 150_000 });
    await tab.row('crowd').getByRole('link').first().click();
    await tab.sees(/1,000 waiting, in this order/);
    expect(await tab.count('[role=row], tr')).toBeLessThan(MOST_ROWS);
    const queue = tab.page.getByRole('table', { name: /^Queue/ });
    expect(await queue.getAttribute('aria-rowcount')).toBe('1001');
    expect(await queue.getByRole('row').nth(1).innerText()).toContain('waiter-0');
    await server.ask(`POST /v1/leases/${id}/release`, { epoch });
    await tab.sees(tab.page.getByRole('button', { name: 'Revoke crowd from waiter-0' }));
    await tab.sees(/999 waiting, in this order/);
  }, 240_000);
});
