// When the connection goes and comes back: the page says so, goes on where it was, and shows nothing that is not so. The server is
// a process that is killed and started again on its port.
import { describe, expect, test } from 'vitest';
import { openSqlite } from '../../src/stores/sqlite/index.js';
import { systemClock } from '../../src/system-clock.js';
import { isSkipped } from '../support/servers/server-process.js';
import { BrowserSite } from './support/browser-site.js';
import { CUT, type Tab } from './support/browser.js';

const NEXT_VERSION = '99.0.0';

function stateOf(tab: Tab, name: string): ReturnType<Tab['row']> {
  return tab.page.getByRole('status').filter({ hasText: name });
}

describe.skipIf(isSkipped('chromium'))('the connection', () => {
  const site = new BrowserSite();

  test('W1, H1: a server that is away is told, and after its return nothing is missing', async () => {
    const { server } = site;
    const gone = await server.take({ resource: 'away/gone', owner: 'ann' });
    await server.take({ resource: 'away/stays', owner: 'ben' });
    const holder = await server.holder('cem');
    const tab = await site.open('/now', { expected: CUT });
    await tab.sees(tab.row('away/gone'));
    const resumed: (string | undefined)[] = [];
    tab.page.on('request', (request) => {
      if (new URL(request.url()).pathname === '/v1/events') resumed.push(request.headers()['last-event-id']);
    });
    await server.kill();
    await tab.sees(stateOf(tab, 'Not connected'));
    await tab.sees(/What you see is \d+ s old/);
    await tab.sees(tab.row('away/gone'));
    holder.tell('acquire a {"resources":"away/new","ttl":"30s"}');
    await holder.line('held a');
    await server.start();
    expect((await server.ask(`POST /v1/leases/${gone.id}/release`, { epoch: gone.epoch })).status).toBe(200);
    await tab.sees(stateOf(tab, 'Live'));
    await tab.misses(/What you see is/);
    await tab.sees(tab.row('away/new').getByText('cem'));
    await tab.sees(tab.row('away/stays'));
    await tab.misses(tab.row('away/gone'));
    // It did not begin anew: it named the last event it had seen.
    expect(resumed.length).toBeGreaterThan(0);
    expect(resumed.every((id) => id !== undefined && id !== '')).toBe(true);
    // And it is live, not only up to date.
    holder.tell('release a');
    await tab.misses(tab.row('away/new'));
  });

  test('W1, H1: a log that was pruned below the position of the page costs it nothing', async () => {
    const { server } = site;
    const gone = await server.take({ resource: 'pruned/gone', owner: 'ann' });
    const tab = await site.open('/now?prefix=pruned', { expected: CUT });
    await tab.sees(tab.row('pruned/gone'));
    await server.kill();
    await tab.sees(stateOf(tab, 'Not connected'));
    const store = await openSqlite(server.store, { clock: systemClock(), namespace: 'default', migrate: 'check' });
    try {
      const [ended] = (await store.end([{ id: gone.id, epoch: gone.epoch, requestId: 'pruned-gone', why: 'released' }]))
        .results;
      expect(ended).toMatchObject({ outcome: 'released' });
      await expect
        .poll(async () => (await store.prune({ olderThanMs: 0, limit: 1_000 })).events, { timeout: 10_000 })
        .toBeGreaterThan(1);
    } finally {
      await store.close();
    }
    await server.start();
    await server.take({ resource: 'pruned/new', owner: 'ben' });
    await tab.sees(tab.row('pruned/new'));
    await tab.misses(tab.row('pruned/gone'));
    await tab.sees(stateOf(tab, 'Live'));
  });

  test('W1: a server that came back in another version is offered as a reload', async () => {
    const { server } = site;
    const tab = await site.open('/now', { expected: CUT });
    await tab.sees(stateOf(tab, 'Live'));
    await server.kill();
    await tab.sees(stateOf(tab, 'Not connected'));
    await server.start(server.nextVersion(NEXT_VERSION));
    await tab.sees('The server was updated while this page was open.');
    await tab.page.getByRole('button', { name: 'Reload the page' }).click();
    await tab.sees(`version ${NEXT_VERSION}`);
    await tab.misses('The server was updated while this page was open.');
    await server.kill();
    await server.start();
  });

  test('W1: a page whose server does not answer at the start says so, and begins when it does', async () => {
    const tab = await site.open('/now', { expected: CUT });
    await tab.sees(stateOf(tab, 'Live'));
    // The files come, the answers do not: what a browser sees when the server dies right after the page was loaded.
    await tab.page.route('**/v1/**', (route) => route.abort('connectionrefused'));
    await tab.page.reload();
    await tab.sees(/The server does not answer.*Trying again/);
    await tab.misses('Nothing is held right now');
    await tab.page.unroute('**/v1/**');
    await tab.sees(stateOf(tab, 'Live'));
    await tab.misses(/Trying again/);
  });

  test('W1: two tabs show the same, each with a connection of its own', async () => {
    const { server } = site;
    const tabs = [await site.open('/now?prefix=two'), await site.open('/now?prefix=two')];
    const lease = await server.take({ resource: 'two/tabs', owner: 'ann' });
    for (const tab of tabs) await tab.sees(tab.row('two/tabs'));
    await server.ask(`POST /v1/leases/${lease.id}/release`, { epoch: lease.epoch });
    for (const tab of tabs) await tab.misses(tab.row('two/tabs'));
  });
});
