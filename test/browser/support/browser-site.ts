// One server and one browser for all tests of a file, a tab or more for each test. After each test its tabs are closed, and it
// fails if one of them has something to complain about.
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Browser } from 'playwright-core';
import { launchChromium } from '../../../scripts/chromium.mjs';
import { openTab, type Tab, type TabOptions } from './browser.js';
import { PageServer } from './page-server.js';

export class BrowserSite {
  #server: PageServer | undefined;
  #browser: Browser | undefined;
  readonly #tabs: Tab[] = [];

  constructor() {
    beforeAll(async () => {
      [this.#server, this.#browser] = await Promise.all([PageServer.start(), launchChromium()]);
    });
    afterEach(async () => {
      const tabs = this.#tabs.splice(0);
      await Promise.all(tabs.map(({ page }) => page.context().close()));
      expect(tabs.flatMap(({ complaints }) => complaints)).toEqual([]);
    });
    afterAll(async () => {
      await this.#browser?.close();
      await this.#server?.close();
    });
  }

  get server(): PageServer {
    if (!this.#server) throw new Error('the server was not started');
    return this.#server;
  }

  get browser(): Browser {
    if (!this.#browser) throw new Error('the browser was not started');
    return this.#browser;
  }

  async open(path: string, options: TabOptions = {}): Promise<Tab> {
    const tab = await openTab(this.browser, this.server.url + path, options);
    this.#tabs.push(tab);
    return tab;
  }
}
