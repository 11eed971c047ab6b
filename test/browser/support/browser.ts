// Tabs of a browser that keep a list of everything a page may not do: console errors, errors
// nobody caught, breaches of the content security policy, requests to another host. A tab with an entry fails its test.
import type { Browser, BrowserContextOptions, Locator, Page } from 'playwright-core';

/** How long something may take to be seen, on a machine with other things to do. */
const PATIENCE_MS = 20_000;
/** What Chromium itself says of answers that are no success. Tests that cause them say so. */
export const CUT = /^Failed to load resource: (net::ERR_|the server responded with a status of 503)/;
export const REFUSED = /^Failed to load resource: the server responded with a status of 40[13]/;

export interface TabOptions extends BrowserContextOptions {
  /** Console errors that this test brings about. */
  readonly expected?: RegExp;
  /** Run in the page before anything else. */
  readonly before?: string;
}

export class Tab {
  readonly page: Page;
  /** What the page did and may not. */
  readonly complaints: string[] = [];
  expected: RegExp | undefined;

  constructor(page: Page, expected: RegExp | undefined, home: string) {
    this.page = page;
    this.expected = expected;
    page.setDefaultTimeout(PATIENCE_MS);
    page.on('console', (message) => {
      if (message.type() === 'error' && this.expected?.test(message.text()) !== true)
        this.complaints.push(`console: ${message.text()} (${message.location().url})`);
    });
    page.on('pageerror', (error) => this.complaints.push(`error: ${error.stack ?? error.message}`));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(home) && !/^(data|blob|about):/.test(url)) this.complaints.push(`asked another host: ${url}`);
    });
  }

  /** Waits until it can be seen. */
  async sees(what: Locator | string | RegExp): Promise<void> {
    await this.#find(what).waitFor({ state: 'visible' });
  }
  /** Waits until it cannot be seen any more. */
  async misses(what: Locator | string | RegExp): Promise<void> {
    await this.#find(what).waitFor({ state: 'hidden' });
  }
  /** The text of the row that has this in it. */
  row(text: string | RegExp): Locator {
    return this.page.getByRole('row').filter({ hasText: text }).first();
  }
  count(selector: string): Promise<number> {
    return this.page.evaluate<number>(`document.querySelectorAll(${JSON.stringify(selector)}).length`);
  }
  async signIn(token: string): Promise<void> {
    await this.page.getByRole('textbox', { name: 'Token' }).fill(token);
    await this.page.getByRole('button', { name: 'Sign in' }).click();
  }

  #find(what: Locator | string | RegExp): Locator {
    return (typeof what === 'string' || what instanceof RegExp ? this.page.getByText(what) : what).first();
  }
}

/** `securitypolicyviolation` is told as a console error in every case. */
const WATCH_POLICY = `addEventListener('securitypolicyviolation', (event) => {
  console.error('policy: ' + event.effectiveDirective + ' ' + event.blockedURI);
});`;

export async function openTab(browser: Browser, url: string, options: TabOptions = {}): Promise<Tab> {
  const { expected, before, ...rest } = options;
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 }, ...rest });
  await context.addInitScript(WATCH_POLICY);
  if (before !== undefined) await context.addInitScript(before);
  const tab = new Tab(await context.newPage(), expected, new URL(url).origin);
  await tab.page.goto(url);
  return tab;
}
