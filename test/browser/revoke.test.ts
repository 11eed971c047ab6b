// Revoking through the page: what the confirmation says, what comes of it, and the leases that are no longer what was confirmed.
import { describe, expect, test } from 'vitest';
import type { Locator } from 'playwright-core';
import { isSkipped } from '../support/servers/server-process.js';
import { BrowserSite } from './support/browser-site.js';
import { CUT, type Tab } from './support/browser.js';

const ENOUGH_TABS = 40;

async function openDialog(tab: Tab, name: string): Promise<Locator> {
  await tab.page.getByRole('button', { name: `Revoke ${name}` }).click();
  const dialog = tab.page.getByRole('dialog');
  await tab.sees(dialog.getByText('The lease ends now, for good.'));
  return dialog;
}

/** The orders that left the page. */
function ordersOf(tab: Tab): string[] {
  const orders: string[] = [];
  tab.page.on('request', (request) => {
    if (request.url().endsWith('/v1/revocations')) orders.push(request.postData() ?? '');
  });
  return orders;
}

/** From now on the page learns about the lease only when the gate is opened. */
async function gateOf(tab: Tab): Promise<() => void> {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  await tab.page.route('**/v1/lookup?*', async (route) => {
    await gate;
    await route.continue().catch(() => undefined);
  });
  return open;
}

/** What has the focus, as a screen reader would say it. */
function focused(tab: Tab): Promise<string> {
  return tab.page.evaluate<string>(
    `(document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.textContent ?? '').trim()`,
  );
}

/** Presses Tab until this has the focus. */
async function tabTo(tab: Tab, name: string): Promise<void> {
  const met: string[] = [];
  for (let pressed = 0; pressed < ENOUGH_TABS; pressed += 1) {
    const now = await focused(tab);
    if (now === name) return;
    met.push(now.slice(0, 30));
    await tab.page.keyboard.press('Tab');
  }
  throw new Error(`${name} was not reached with Tab, only ${met.join(' | ')}`);
}

describe.skipIf(isSkipped('chromium'))('revoking', () => {
  const site = new BrowserSite();

  test('A7, W1: a holder is revoked, the next one takes over, the holder is told why, and the history has it', async () => {
    const [first, second] = await Promise.all([site.server.holder('alice'), site.server.holder('bob')]);
    first.tell('acquire a {"resources":"deploy","ttl":"6s"}');
    await first.line('held a');
    second.tell('acquire b {"resources":"deploy","ttl":"6s","wait":"1m"}');
    const tab = await site.open('/resource?name=deploy');
    const orders = ordersOf(tab);
    await tab.sees(tab.page.getByText('1 waiting').first());
    const dialog = await openDialog(tab, 'deploy from alice');
    await tab.sees(dialog.getByText(/bob is next/));
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    expect(orders).toEqual([]); // a reason is asked for
    await dialog.getByLabel(/^Reason/).fill('stuck, asked in the channel');
    await dialog.getByRole('button', { name: 'Revoke' }).dblclick();
    await tab.sees(dialog.getByText('Revoked.'));
    await first.line('lost a');
    await second.line('held b');
    await tab.sees(dialog.getByText(/bob/));
    await dialog.getByRole('button', { name: 'Close' }).click();
    await tab.sees(tab.page.getByRole('button', { name: 'Revoke deploy from bob' }));
    await tab.sees('stuck, asked in the channel');
    expect(orders).toHaveLength(1);
    second.tell('release b');
    await tab.sees('Nobody holds it: it is free.');
  });

  test('A7, W1: a lease that is gone when revoke is pressed is told as gone, and nothing is ordered', async () => {
    const { id, epoch } = await site.server.take({ resource: 'gone/soon', owner: 'ann' });
    const tab = await site.open('/resource?name=gone/soon');
    const orders = ordersOf(tab);
    const dialog = await openDialog(tab, 'gone/soon');
    await dialog.getByLabel(/^Reason/).fill('too late');
    const open = await gateOf(tab);
    await site.server.ask(`POST /v1/leases/${id}/release`, { epoch });
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    open();
    await tab.sees(dialog.getByText(/It has ended by itself; nothing was revoked/));
    expect(orders).toEqual([]);
  });

  test('A7, W1: a holder that comes back to life while one looks is spared until it is confirmed again', async () => {
    const { id, epoch } = await site.server.take({ resource: 'alive/again', owner: 'ann' });
    const renew = async (): Promise<number> => (await site.server.ask(`POST /v1/leases/${id}/renew`, { epoch })).status;
    expect(await renew()).toBe(200);
    const tab = await site.open('/resource?name=alive/again');
    const orders = ordersOf(tab);
    await tab.sees(/overdue/);
    const dialog = await openDialog(tab, 'alive/again');
    await tab.sees(dialog.getByText(/overdue/));
    await dialog.getByLabel(/^Reason/).fill('looked dead');
    const open = await gateOf(tab);
    expect(await renew()).toBe(200);
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    open();
    await tab.sees(dialog.getByText(/It was renewed while you looked/));
    expect(orders).toEqual([]);
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await tab.sees(dialog.getByText('Revoked.'));
    expect(orders).toHaveLength(1);
  });

  test('A7, W1: two tabs revoke the same lease: one of them does', async () => {
    await site.server.take({ resource: 'two/hands', owner: 'ann' });
    const tabs = [await site.open('/resource?name=two/hands'), await site.open('/resource?name=two/hands')];
    const dialogs = [];
    for (const tab of tabs) dialogs.push(await openDialog(tab, 'two/hands'));
    const [one, other] = dialogs;
    await one!.getByLabel(/^Reason/).fill('first');
    await one!.getByRole('button', { name: 'Revoke' }).click();
    await tabs[0]!.sees(one!.getByText('Revoked.'));
    await tabs[1]!.sees(other!.getByText(/nothing was revoked/));
    const { body } = await site.server.ask('GET /v1/history?type=lease.revoked&resource=two/hands');
    expect(body['items']).toHaveLength(1);
  });

  test('A7, W1: an order that gets no answer is looked after, not sent again', async () => {
    await site.server.take({ resource: 'no/answer', owner: 'ann' });
    const tab = await site.open('/resource?name=no/answer', { expected: CUT });
    const orders = ordersOf(tab);
    const dialog = await openDialog(tab, 'no/answer');
    await tab.page.route('**/v1/revocations', async (route) => {
      await route.fetch(); // it arrives, and the answer is lost on the way
      await route.abort('connectionreset');
    });
    await dialog.getByLabel(/^Reason/).fill('the network is bad tonight');
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await tab.sees(dialog.getByText('Revoked.'));
    expect(orders).toHaveLength(1);
  });

  test('W1: with the keyboard alone: to a lease, into it, the confirmation, and back', async () => {
    await site.server.take({ resource: 'keys/only', owner: 'ann' });
    const tab = await site.open('/now?prefix=keys');
    await tab.sees(tab.row('keys/only'));
    await tabTo(tab, 'keys/only');
    await tab.page.keyboard.press('Enter');
    await tab.sees(tab.page.getByRole('heading', { name: 'keys/only', level: 1 }));
    await tab.sees(tab.page.getByRole('button', { name: 'Revoke keys/only from ann' }));
    await tabTo(tab, 'Revoke keys/only from ann');
    await tab.page.keyboard.press('Enter');
    const dialog = tab.page.getByRole('dialog');
    await tab.sees(dialog);
    await expect
      .poll(() => tab.page.evaluate<boolean>(`document.querySelector('dialog').contains(document.activeElement)`))
      .toBe(true);
    await tab.page.keyboard.press('Escape');
    await tab.misses(dialog);
    await expect.poll(() => focused(tab)).toBe('Revoke keys/only from ann');
    expect((await site.server.ask('GET /v1/resource?name=keys/only')).body['holders']).toHaveLength(1);
  });
});
