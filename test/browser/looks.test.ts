// Every view over a store with something in it, light and dark: no serious finding of axe-core, nothing wider than a phone, no
// error on the console. What each view has to show first is named here, so that a view that stays empty is found.
import axe from 'axe-core';
import { beforeAll, describe, expect, test } from 'vitest';
import { isSkipped } from '../support/servers/server-process.js';
import { BrowserSite } from './support/browser-site.js';
import type { Tab } from './support/browser.js';

const AXE = axe.source;
const PHONE = { width: 360, height: 740 };

/** Path, and what is there when it is drawn. */
const VIEWS: readonly (readonly [string, string, RegExp])[] = [
  ['now', '/now', /worker-7/],
  ['tree', '/now?as=tree&status=all', /agent-bob/],
  ['resource', '/resource?name=orders/0', /worker-4/],
  ['sequences', '/sequences', /invoices/],
  ['one sequence', '/sequences?stream=orders/log', /Waiting for a person/],
  ['health', '/health', /\d+ (?:other )?rules hold/],
  ['history', '/history', /invoices/],
  ['settings', '/settings', /held_ttl_seconds/],
  ['tokens', '/tokens', /Tokens/],
  ['runbook', '/runbook?page=runbooks/conflicts', /What to run/],
  ['no such view', '/resource', /Which resource/],
];

interface Finding {
  readonly id: string;
  readonly impact: string;
  readonly help: string;
  readonly nodes: readonly string[];
}

/** What a person could not see, reach or understand. */
async function findingsIn(tab: Tab): Promise<Finding[]> {
  return tab.page.evaluate<Finding[]>(`axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
    violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, impact, help, nodes }) => ({
        id, impact, help,
        nodes: nodes.slice(0, 3).map(({ html, failureSummary }) => html.slice(0, 200) + ' ' + failureSummary),
      })))`);
}

describe.skipIf(isSkipped('chromium'))('the look of every view', () => {
  const site = new BrowserSite();
  beforeAll(() => site.server.scene());

  describe.each(VIEWS)('%s', (_, path, text) => {
    test.each(['light', 'dark'] as const)('W1: has no serious finding, %s', async (colorScheme) => {
      const tab = await site.open(path, { colorScheme, before: AXE });
      await tab.sees(text);
      await tab.misses(tab.page.getByText('Loading…'));
      expect(await findingsIn(tab)).toEqual([]);
    });

    test('W1: fits on a phone', async () => {
      const tab = await site.open(path, { viewport: PHONE, hasTouch: true, isMobile: true });
      await tab.sees(text);
      const widths = await tab.page.evaluate<number[]>(
        '[document.documentElement.scrollWidth, document.body.scrollWidth]',
      );
      expect(Math.max(...widths)).toBeLessThanOrEqual(PHONE.width);
    });
  });

  test('W1: the confirmation of a revocation and the sign-in have no serious finding either', async () => {
    const tab = await site.open('/resource?name=orders/0', { before: AXE });
    await tab.page.getByRole('button', { name: 'Revoke orders/0' }).click();
    await tab.sees('The lease ends now, for good.');
    expect(await findingsIn(tab)).toEqual([]);
    await tab.page.keyboard.press('Escape');
    await tab.misses(tab.page.getByRole('dialog'));
    await tab.page.keyboard.press('?');
    await tab.sees(tab.page.getByRole('dialog', { name: 'Keys' }));
    expect(await findingsIn(tab)).toEqual([]);
  });

  test('the check finds what it looks for', async () => {
    const tab = await site.open('/now', { before: AXE });
    await tab.sees(tab.row('orders/0'));
    await tab.page.evaluate(`document.body.append(document.createElement('button'))`);
    expect((await findingsIn(tab)).map(({ id }) => id)).toContain('button-name');
  });
});
