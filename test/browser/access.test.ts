// The page on a server with tokens: it asks for one, keeps it in memory, offers what the role may do, and says so at once when the
// token is no good any more.
import { beforeAll, describe, expect, test } from 'vitest';
import { isSkipped } from '../support/servers/server-process.js';
import { BrowserSite } from './support/browser-site.js';
import { CUT, REFUSED, type Tab } from './support/browser.js';

const SHORT_LIFE = '4s';
const REFUSED_OR_CUT = new RegExp(`${REFUSED.source}|${CUT.source}`);

describe.skipIf(isSkipped('chromium'))('tokens', () => {
  const site = new BrowserSite();
  let admin = '';
  beforeAll(async () => {
    admin = await site.server.token({ name: 'root', role: 'admin' });
    await site.server.take({ resource: 'orders/0', owner: 'ann' }, admin);
    await site.server.take({ resource: 'elsewhere/1', owner: 'ben' }, admin);
  });

  async function signedIn(path: string, token: string, expected = REFUSED): Promise<Tab> {
    const tab = await site.open(path, { expected });
    await tab.sees(tab.page.getByRole('dialog', { name: 'Sign in with a token' }));
    await tab.signIn(token);
    await tab.misses(tab.page.getByRole('dialog'));
    return tab;
  }

  test('W3: without a token nothing is shown; a wrong one is refused in words; the right one opens, and stays in memory', async () => {
    const tab = await site.open('/now', { expected: REFUSED });
    await tab.sees(tab.page.getByRole('dialog', { name: 'Sign in with a token' }));
    expect(await tab.row('orders/0').count()).toBe(0);
    await tab.signIn('hf_wrong');
    await tab.sees(tab.page.getByRole('alert'));
    await tab.signIn(admin);
    await tab.sees(tab.row('orders/0'));
    const kept = await tab.page.evaluate<string>(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state])',
    );
    expect(kept).not.toContain(admin);
    await tab.page.reload();
    await tab.sees(tab.page.getByRole('dialog', { name: 'Sign in with a token' }));
  });

  test('W3: a reader sees what there is and is offered nothing it may not do', async () => {
    const reader = await site.server.token({ name: 'reader', role: 'read' }, admin);
    const tab = await signedIn('/now', reader);
    await tab.sees(tab.row('orders/0'));
    await tab.sees(/reader · read/);
    expect(await tab.page.getByRole('link', { name: 'Tokens' }).count()).toBe(0);
    await tab.row('orders/0').getByRole('link').first().click();
    await tab.sees(tab.page.getByRole('heading', { name: 'orders/0' }));
    await tab.sees('ann');
    expect(await tab.page.getByRole('button', { name: /revoke/i }).count()).toBe(0);
    const other = await signedIn('/resource?name=orders/0', admin);
    await other.sees(other.page.getByRole('button', { name: /revoke/i }));
    await other.sees(other.page.getByRole('link', { name: 'Tokens' }));
  });

  test('W3: a token bound to a prefix sees what is below it', async () => {
    const bound = await site.server.token({ name: 'bound', role: 'read', prefix: 'orders' }, admin);
    const tab = await signedIn('/now', bound);
    await tab.sees(tab.row('orders/0'));
    await tab.sees('1 held');
    expect(await tab.row('elsewhere/1').count()).toBe(0);
  });

  test('W3: a token that is revoked while the page is open ends it, and another one goes on', async () => {
    const short = await site.server.token({ name: 'short', role: 'read' }, admin);
    const tab = await signedIn('/now', short);
    await tab.sees(tab.row('orders/0'));
    expect((await site.server.ask('DELETE /v1/tokens/short', undefined, admin)).status).toBe(200);
    await tab.sees(tab.page.getByRole('dialog', { name: 'Sign in with a token' }));
    await tab.sees(tab.page.getByRole('alert').filter({ hasText: /token/ }));
    await tab.signIn(admin);
    await tab.sees(tab.row('elsewhere/1'));
  });

  test('W3: a token that expires while the page is open ends it', async () => {
    const brief = await site.server.token({ name: 'brief', role: 'read', expiresIn: SHORT_LIFE }, admin);
    const tab = await signedIn('/now', brief);
    await tab.sees(tab.page.getByRole('dialog', { name: 'Sign in with a token' }));
    await tab.sees(tab.page.getByRole('alert').filter({ hasText: /token/ }));
  });

  test('W3: a role that is lowered while the page is open takes back what was offered', async () => {
    const tab = await signedIn('/resource?name=orders/0', admin, REFUSED_OR_CUT);
    await tab.sees(tab.page.getByRole('button', { name: /revoke/i }));
    // No server lowers a token: it is the answer of one whose store was put back to an earlier day.
    await tab.page.route('**/v1/whoami', async (route) => {
      const answer = await route.fetch().catch(() => undefined);
      if (!answer) return route.abort(); // asked while the server is away: as the page would find it
      return route.fulfill({ response: answer, json: { ...((await answer.json()) as object), role: 'read' } });
    });
    await site.server.kill();
    await site.server.start();
    await tab.misses(tab.page.getByRole('link', { name: 'Tokens' }));
    await tab.page.getByRole('navigation').getByRole('link', { name: 'Now' }).click();
    await tab.row('orders/0').getByRole('link').first().click();
    await tab.sees('ann');
    expect(await tab.page.getByRole('button', { name: /revoke/i }).count()).toBe(0);
  });

  test('W3: signing out forgets the token', async () => {
    const tab = await signedIn('/now', admin);
    await tab.sees(tab.row('orders/0'));
    await tab.page.getByRole('button', { name: 'Sign out' }).click();
    await tab.sees(tab.page.getByRole('dialog', { name: 'Sign in with a token' }));
    expect(await tab.row('orders/0').count()).toBe(0);
  });
});
