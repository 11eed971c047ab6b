// Where tests with real processes happen: a lease file in a folder of its own, children that are connected to it, and a
// look at it from outside. After each test every child is dead, and none has said that something went unhandled (S12).
import { join } from 'node:path';
import Driver from 'better-sqlite3';
import { afterEach, beforeEach, expect } from 'vitest';
import { connect, type ConnectOptions } from '../../src/connect.js';
import type { LeaseEvent } from '../../src/domain/events.js';
import type { Holdfast } from '../../src/holdfast.js';
import { systemClock } from '../../src/system-clock.js';
import { startChild, type Child } from './child.js';
import { temporaryFolder, type TemporaryFolder } from './temporary-folder.js';

export interface ConnectedChild extends Child {
  /** Gives an order; see the child's own file. */
  order(order: string, key: string, content?: object): void;
  /** The words of a line, after its first two. */
  words(text: string): Promise<string[]>;
}

export interface ProcessSite {
  readonly url: string;
  readonly file: string;
  /** A child that is connected and waits for orders. */
  start(owner: string, options?: ConnectOptions, program?: string): Promise<ConnectedChild>;
  /** Any other program; ended after the test like the rest. */
  run(program: string, ...args: string[]): Child;
  /** The store as this process sees it, without services of its own. */
  look(): Promise<Holdfast>;
  /** Keeps everybody from writing until the answer is called. */
  lock(): () => void;
  /** The whole log, oldest first. */
  log(): Promise<LeaseEvent[]>;
}

const clock = systemClock();
/** The clock that all processes of this machine share, in milliseconds. */
export const monotonic = (): number => clock.monotonic();

export function processSite(): ProcessSite {
  let folder: TemporaryFolder;
  let children: Child[];
  let looking: Promise<Holdfast> | undefined;
  let unlock: (() => void)[];
  beforeEach(() => {
    folder = temporaryFolder();
    children = [];
    looking = undefined;
    unlock = [];
  });
  afterEach(async () => {
    for (const open of unlock) open();
    for (const child of children) child.process.kill('SIGKILL');
    await Promise.all(children.map((child) => child.ended));
    await (await looking)?.shutdown();
    folder.remove();
    const unseen = children.flatMap((child) => child.lines.filter((line) => /^(unhandled|warning) /.test(line)));
    expect(unseen, 'S12').toEqual([]);
  });

  const site: ProcessSite = {
    get file() {
      return join(folder.path, 'leases.db');
    },
    get url() {
      return `sqlite:${site.file}`;
    },
    run(program, ...args) {
      const child = startChild(program, ...args);
      children.push(child);
      return child;
    },
    async start(owner, options = {}, program = 'manager-child.mjs') {
      const child = site.run(program, site.url, owner, JSON.stringify(options));
      await child.line('open');
      return {
        ...child,
        order: (order, key, content) => child.tell(`${order} ${key} ${content ? JSON.stringify(content) : ''}`.trim()),
        words: async (text) => (await child.line(`${text} `)).split(' ').slice(2),
      };
    },
    look: () => (looking ??= connect(site.url, { services: 'off' })),
    lock() {
      const raw = new Driver(site.file, { timeout: 5_000 });
      raw.exec('BEGIN IMMEDIATE');
      const open = (): void => {
        raw.close(); // ends the transaction too; again is harmless
      };
      unlock.push(open);
      return open;
    },
    async log() {
      const leases = await site.look();
      const events: LeaseEvent[] = [];
      for (let cursor: string | undefined; ;) {
        const page = await leases.history({ limit: 1_000, ...(cursor === undefined ? {} : { cursor }) });
        events.unshift(...page.items.reverse());
        cursor = page.cursor;
        if (cursor === undefined) return events;
      }
    },
  };
  return site;
}
