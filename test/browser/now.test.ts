// The first view in a real browser: leases of real processes as they come, change hands and go; filters and the tree, whose state is
// in the address; a clock that is wrong; names that want to be more than text.
import { describe, expect, test } from 'vitest';
import { isSkipped } from '../support/servers/server-process.js';
import { BrowserSite } from './support/browser-site.js';
import type { Tab } from './support/browser.js';

const TWO_HOURS_OFF = `{
  const Real = Date;
  const offMs = 2 * 3_600_000;
  globalThis.Date = class extends Real {
    constructor(...given) {
      if (given.length === 0) super(Real.now() + offMs);
      else super(...given);
    }
    static now() {
      return Real.now() + offMs;
    }
  };
}`;

/** The epoch a row shows: the only number of sixteen digits in it. */
async function epochIn(tab: Tab, name: string): Promise<number> {
  return Number(/\b\d{16}\b/.exec(await tab.row(name).innerText())?.[0]);
}

/** What a row says is left, in seconds. */
async function secondsLeft(tab: Tab, name: string): Promise<number> {
  const [, minutes, seconds] = /(?:(\d+) min|\b(\d+) s)\b/.exec(await tab.row(name).innerText()) ?? [];
  return minutes === undefined ? Number(seconds) : Number(minutes) * 60;
}

describe.skipIf(isSkipped('chromium'))('the first view', () => {
  const site = new BrowserSite();

  test('W1: an empty store explains how to make the first lease; it appears without a reload, and goes', async () => {
    const tab = await site.open('/');
    await tab.sees('Nothing is held right now');
    await tab.sees(`HOLDFAST_STORE=${site.server.url} holdfast run my/first/lease -- sleep 60`);
    const holder = await site.server.holder('worker-7');
    holder.tell('acquire a {"resources":"my/first/lease","ttl":"10s"}');
    await tab.sees(tab.row('my/first/lease'));
    expect(await tab.row('my/first/lease').innerText()).toContain('worker-7');
    await tab.sees('1 held');
    holder.tell('release a');
    await tab.sees('Nothing is held right now');
  });

  test('W1, S2: a takeover is seen live: the holder is killed, the next has it, with a higher epoch', async () => {
    const [first, second] = await Promise.all([site.server.holder('alice'), site.server.holder('bob')]);
    first.tell('acquire a {"resources":"orders/0","ttl":"2s"}');
    await first.line('held');
    const tab = await site.open('/now');
    await tab.sees(tab.row('alice'));
    const before = await epochIn(tab, 'orders/0');
    second.tell('acquire b {"resources":"orders/0","ttl":"2s","wait":"1m"}');
    await tab.sees(tab.row('orders/0').getByText('1 waiting'));
    // A holder that lives renews: the row is there long after its time to live.
    await expect.poll(() => tab.row('orders/0').innerText(), { timeout: 20_000 }).toMatch(/\d s ago|now/);
    first.process.kill('SIGKILL');
    await tab.sees(tab.row('bob'));
    await tab.misses(tab.row('alice'));
    expect(await epochIn(tab, 'orders/0')).toBeGreaterThan(before);
    second.tell('release b');
    await tab.misses(tab.row('orders/0'));
  });

  test('W1: filters narrow the list, stand in the address, and a link to them shows the same', async () => {
    const { server } = site;
    await server.take({ resource: 'filter/one', owner: 'ann' });
    await server.take({ resource: 'filter/two', owner: 'ben' });
    await server.take({ resource: 'elsewhere', owner: 'ann' });
    await server.wait('filter/two', 'cem');
    const tab = await site.open('/now');
    await tab.sees(tab.row('elsewhere'));
    await tab.page.keyboard.press('/');
    await tab.page.keyboard.type('filter/');
    await tab.misses(tab.row('elsewhere'));
    await tab.sees(tab.row('filter/one'));
    await tab.page.getByLabel('Owner').fill('ben');
    await tab.misses(tab.row('filter/one'));
    await tab.sees(tab.row('filter/two'));
    await tab.page.getByLabel('Status').selectOption({ label: 'Held and waiting' });
    await tab.page.getByLabel('Owner').fill('cem');
    await tab.sees(tab.row('cem').getByText(/^waiting for/));
    const again = await site.open(new URL(tab.page.url()).pathname + new URL(tab.page.url()).search);
    await again.sees(again.row('cem'));
    expect(await again.page.getByRole('row').count()).toBe(await tab.page.getByRole('row').count());
    await tab.page.getByLabel('Owner').fill('nobody-at-all');
    await tab.page.getByRole('button', { name: 'Clear the filters' }).click();
    await tab.sees(tab.row('elsewhere'));
  });

  test('W1: in the tree a subtree lease is seen over its children', async () => {
    const { server } = site;
    await server.take({ resource: 'tree/docs', scope: 'subtree', owner: 'writer' });
    await server.wait('tree/docs/guide/first.md', 'reader');
    await server.take({ resource: 'tree/src/a.ts', owner: 'coder' });
    await server.take({ resource: 'tree/src/b.ts', owner: 'coder' });
    const tab = await site.open('/now?as=tree&status=all&prefix=tree');
    await tab.sees(tab.row('docs').getByText('and all below'));
    await tab.sees(tab.row('first.md').getByText(/under.*writer/));
    await tab.sees(tab.row('a.ts').getByText('coder'));
    await tab.page.getByRole('button', { name: 'below tree/src', exact: true }).click();
    await tab.misses(tab.row('a.ts'));
    await tab.sees(tab.row('first.md'));
  });

  test('W1: a browser whose clock is two hours off shows the same remaining time', async () => {
    await site.server.take({ resource: 'clock/job', owner: 'ticker', ttl: '90s' });
    const right = await site.open('/now?prefix=clock/');
    const wrong = await site.open('/now?prefix=clock/', { before: TWO_HOURS_OFF });
    for (const tab of [right, wrong]) await tab.sees(tab.row('clock/job'));
    expect(await wrong.page.evaluate<number>('Date.now()')).toBeGreaterThan(Date.now() + 7_000_000);
    const left = await secondsLeft(right, 'clock/job');
    expect(left).toBeGreaterThan(60);
    expect(Math.abs((await secondsLeft(wrong, 'clock/job')) - left)).toBeLessThanOrEqual(3);
    expect(await wrong.row('clock/job').innerText()).not.toMatch(/ h\b/);
  });

  test('W1, W5: hostile names and owners are shown as text', async () => {
    const { server } = site;
    const script = 'hostile/<script>document.title="taken"</script>';
    const image = '<img src=x onerror=document.title="taken">';
    await server.take({
      resource: script,
      owner: image,
      metadata: { note: '<script>document.title="taken"</script>' },
    });
    await server.take({ resource: 'hostile/\u202Egpj.exe', owner: '\u2066left\u2069\u200Bhidden' });
    const long = `hostile/${'x'.repeat(504)}`;
    await server.take({ resource: long, owner: 'o'.repeat(128) });
    for (const view of ['list', 'tree']) {
      const tab = await site.open(`/now?prefix=hostile&as=${view}`);
      await tab.sees(view === 'list' ? script : '<script>document.title="taken"<');
      await tab.sees(image.slice(0, 8));
      await tab.sees('U+202E');
      await tab.sees('U+200B');
      expect(await tab.count('main script, main img')).toBe(0);
      expect(await tab.page.title()).toBe('Now · Holdfast');
      const text = await tab.page.evaluate<string>('document.body.textContent');
      expect(text).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200B]/);
      expect(await tab.page.evaluate<boolean>('document.body.scrollWidth <= innerWidth')).toBe(true);
    }
  });

  test('W1: every view has an address, an unknown one leads back, and the title says where one is', async () => {
    const tab = await site.open('/history');
    await expect.poll(() => tab.page.title()).toBe('History · Holdfast');
    await tab.page.getByRole('navigation').getByRole('link', { name: 'Now' }).click();
    await expect.poll(() => tab.page.title()).toBe('Now · Holdfast');
    await tab.page.goBack();
    await expect.poll(() => tab.page.title()).toBe('History · Holdfast');
    await tab.page.keyboard.press('g');
    await tab.page.keyboard.press('e');
    await expect.poll(() => tab.page.url()).toBe(`${site.server.url}/settings`);
  });

  test('W1, W5: the first view is at most 60 KiB over the wire, under a policy without exceptions', async () => {
    const tab = await site.open('/sequences', {});
    const session = await tab.page.context().newCDPSession(tab.page);
    await session.send('Network.enable');
    let bytes = 0;
    const files: string[] = [];
    const wanted = new Map<string, string>();
    session.on('Network.responseReceived', ({ requestId, response }) => void wanted.set(requestId, response.url));
    session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const { pathname } = new URL(wanted.get(requestId) ?? 'none:/');
      if (pathname.startsWith('/v1/')) return;
      bytes += encodedDataLength;
      files.push(pathname);
    });
    await session.send('Network.setCacheDisabled', { cacheDisabled: true });
    const answer = await tab.page.goto(`${site.server.url}/now`);
    await tab.sees(tab.page.getByRole('heading', { name: 'Now' }));
    await tab.sees(tab.page.getByRole('status').filter({ hasText: 'Live' }));
    expect(files.length).toBeGreaterThan(2);
    expect(bytes).toBeGreaterThan(5_000);
    expect(bytes).toBeLessThan(60 * 1_024);
    const policy = answer?.headers()['content-security-policy'] ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toMatch(/unsafe|\*/);
  });
});
