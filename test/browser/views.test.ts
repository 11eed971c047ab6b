// What each view shows of a store in which real processes hold, wait and have died, and what can be done there: the history taken
// away as CSV and JSON, an operation settled by a person, a setting changed, a token made and revoked, an alert and its runbook.
import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, test } from 'vitest';
import { isSkipped } from '../support/servers/server-process.js';
import { BrowserSite } from './support/browser-site.js';
import type { Tab } from './support/browser.js';

async function saved(tab: Tab, button: string): Promise<string> {
  const [download] = await Promise.all([
    tab.page.waitForEvent('download'),
    tab.page.getByRole('button', { name: button }).click(),
  ]);
  return readFileSync(await download.path(), 'utf8');
}

describe.skipIf(isSkipped('chromium'))('the views', () => {
  const site = new BrowserSite();
  beforeAll(() => site.server.scene());

  test('W1: one resource: holder, signs of life, metadata, the queue in order, who had it, what happened', async () => {
    const tab = await site.open('/resource?name=orders/0');
    await tab.sees(tab.page.getByRole('heading', { name: 'orders/0', level: 1 }));
    await tab.sees(tab.page.getByRole('button', { name: 'Revoke orders/0 from worker-7' }));
    await tab.sees(/Taken .* too early to tell|looks alive/);
    await tab.page.getByText('Metadata').click();
    await tab.sees(/"host": "web1"/);
    const queue = tab.page.getByRole('table', { name: /^Queue/ }).getByRole('row');
    await tab.sees(queue.filter({ hasText: 'worker-6' }));
    for (const [place, owner] of ['worker-4', 'worker-5', 'worker-6'].entries())
      expect(await queue.nth(place + 1).innerText()).toContain(owner);
    await tab.sees(tab.page.getByRole('listitem').filter({ hasText: 'worker-1' }).getByText('released'));
    await tab.page
      .getByRole('button', { name: /Acquired orders\/0/ })
      .first()
      .click();
    await tab.sees(tab.page.getByRole('dialog', { name: 'lease.acquired' }));
  });

  test('W1: what is stuck shows who waits for whom', async () => {
    const [one, other] = await Promise.all([site.server.holder('left'), site.server.holder('right')]);
    one.tell('acquire a {"resources":"stuck/a","ttl":"30s"}');
    other.tell('acquire b {"resources":"stuck/b","ttl":"30s"}');
    await Promise.all([one.line('held a'), other.line('held b')]);
    one.tell('acquire c {"resources":"stuck/b","inside":"a","ttl":"30s","wait":"1m"}');
    const third = await site.server.holder('third');
    third.tell('acquire d {"resources":"stuck/a","ttl":"30s","wait":"1m"}');
    const tab = await site.open('/resource?name=stuck/a');
    await tab.sees('Who waits for whom');
    await tab.sees(tab.page.getByRole('listitem').filter({ hasText: /waits for\s+stuck\/b/ }));
    await tab.page.getByRole('link', { name: 'stuck/b' }).first().click();
    await tab.sees(tab.page.getByRole('button', { name: 'Revoke stuck/b from right' }));
  });

  test('W1: sequences: how far, what is open, what was given up, who is behind; a person settles what waits', async () => {
    const tab = await site.open('/sequences');
    await tab.sees(tab.row('invoices'));
    await tab.sees(tab.row('orders/log').getByText(/waits? for a person/));
    await tab.page.getByRole('link', { name: 'orders/log' }).click();
    await tab.sees(/watermark 40/);
    await tab.sees(tab.page.getByRole('listitem').filter({ hasText: 'order-41' }).getByText('holds the watermark'));
    await tab.sees(tab.page.getByRole('listitem').filter({ hasText: 'projection' }));
    await tab.sees(tab.page.getByRole('listitem').filter({ hasText: 'order-25' }));
    await tab.sees(/the payment service did not answer/);
    await tab.page.getByRole('button', { name: 'Discard' }).click();
    const dialog = tab.page.getByRole('dialog', { name: 'Discard this operation?' });
    await dialog.getByRole('button', { name: 'Discard' }).click();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await tab.misses(tab.page.getByRole('heading', { name: 'Waiting for a person' }));
    const { body } = await site.server.ask('GET /v1/streams/orders%2Flog');
    expect(body).toMatchObject({ manual: 0 });
  });

  test('W1, O3: health: alerts with their runbook, live plots, and what the doctor found', async () => {
    const tab = await site.open('/health');
    await tab.sees(tab.page.getByRole('heading', { name: 'Alerts' }));
    await tab.sees(/\d+ (other )?rules hold|All \d+ rules hold/);
    for (const title of ['Acquisitions', 'Refusals', 'Waits', 'Renewals', 'Expiries', 'Overruns'])
      await tab.sees(tab.page.getByRole('heading', { name: title }));
    await expect.poll(() => tab.count('canvas'), { timeout: 20_000 }).toBeGreaterThanOrEqual(6);
    await tab.sees(tab.page.getByRole('heading', { name: 'What the doctor found' }));
    await tab.page.getByText(/rules hold/).click();
    await tab.page.getByRole('link', { name: 'Runbook for conflicts' }).click();
    await tab.sees(tab.page.getByRole('heading', { name: 'What to run' }));
  });

  test('W1, H2: history: searched by resource, owner, type and time, opened, followed live, taken away', async () => {
    const tab = await site.open('/history');
    await tab.sees(tab.row('invoices'));
    await tab.page.getByLabel('Type').selectOption('lease.expired');
    await tab.sees(tab.row('imports/nightly'));
    await tab.misses(tab.row('imports/weekly'));
    await tab.page.getByLabel('Type').selectOption('');
    await tab.page.getByLabel('Resource, and all below').fill('imports');
    await tab.sees(tab.row('imports/weekly'));
    await tab.misses(tab.row('orders/0'));
    await tab.page.getByLabel('Owner').fill('worker-8');
    await tab.misses(tab.row('imports/nightly'));
    await tab.page.getByRole('button', { name: 'Last hour' }).click();
    await tab.sees(tab.row('started on the wrong day'));
    expect(new URL(tab.page.url()).searchParams.get('resource')).toBe('imports');
    const csv = await saved(tab, 'Export as CSV');
    expect(csv.trim().split('\n').length).toBe(3);
    expect(csv).toContain('started on the wrong day');
    const json = JSON.parse(await saved(tab, 'Export as JSON')) as unknown;
    expect(JSON.stringify(json)).toContain('started on the wrong day');
    await tab.page.getByLabel('Owner').fill('');
    await site.server.take({ resource: 'imports/live', owner: 'now' });
    await tab.sees(tab.row('imports/live'));
  });

  test('W1, O4: settings: the value, its default and what it takes; a wrong one is refused in words, a right one is kept', async () => {
    const tab = await site.open('/settings');
    const entry = tab.page.getByRole('listitem').filter({ hasText: 'held_ttl_seconds' });
    await tab.sees(entry.getByText(/default 30 .*takes seconds from/));
    await entry.getByRole('button').click();
    const dialog = tab.page.getByRole('dialog');
    tab.expected = /status of 400/;
    await dialog.getByLabel('New value').fill('99999999999');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await tab.sees(dialog.getByRole('alert').filter({ hasText: /seconds from/ }));
    await dialog.getByLabel('New value').fill('45');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await tab.misses(dialog);
    await tab.sees(entry.getByText('changed'));
    expect((await site.server.ask('GET /v1/config')).body).toMatchObject({ held_ttl_seconds: 45 });
  });

  test('W1, W3: tokens: one is made, its secret shown once, and revoked', async () => {
    const tab = await site.open('/tokens');
    await tab.sees('There are no tokens yet');
    const secret = await site.server.token({ name: 'root', role: 'admin' });
    tab.expected = /status of 401/;
    await tab.page.reload();
    await tab.signIn(secret);
    await tab.sees(tab.row('root'));
    await tab.page.getByRole('button', { name: /^Create/ }).click();
    await tab.page.getByLabel('Name, for people').fill('ci');
    await tab.page
      .getByRole('dialog')
      .getByRole('button', { name: /^Create/ })
      .click();
    const shown = await tab.page.getByLabel(/^Secret/).inputValue();
    expect(shown).toMatch(/^hf_/);
    expect((await site.server.ask('GET /v1/whoami', undefined, shown)).body).toMatchObject({
      name: 'ci',
      role: 'read',
    });
    await tab.page.getByRole('button', { name: 'I have it' }).click();
    await tab.sees(tab.row('ci'));
    await tab.page.getByRole('button', { name: 'Revoke token ci' }).click();
    await tab.page
      .getByRole('dialog')
      .getByRole('button', { name: /^Revoke/ })
      .click();
    await tab.misses(tab.page.getByRole('button', { name: 'Revoke token ci' }));
    expect((await site.server.ask('GET /v1/whoami', undefined, shown)).status).toBe(401);
  });
});
