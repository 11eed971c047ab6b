// Where a crowd works: one of four stores with its counters, the links each worker goes through, and what a misfortune can
// take hold of. Whatever a site has not (a server, links) cannot be hit there.
import { readdirSync, readlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectOptions } from '../../../src/connect.js';
import type { Holdfast } from '../../../src/holdfast.js';
import type { Store } from '../../../src/stores/store.js';
import { accepts } from '../../support/servers/server-process.js';
import type { CutProxy } from '../../support/servers/cut-proxy.js';
import type { Grounds } from './grounds.js';
import type { Counted } from './verdict.js';

export const SITES = ['sqlite', 'postgres', 'redis', 'server'] as const;
export type SiteName = (typeof SITES)[number];

/** How many there are of what, by name. */
export type Counts = Record<string, number>;

export interface Site {
  readonly name: SiteName;
  readonly grounds: Grounds;
  /** Where the worker of a slot finds the leases, and the counters. */
  url(slot: number): string;
  counters(slot: number): object;
  /** More options of `connect`. */
  readonly options?: ConnectOptions;
  /** What a worker does before it is counted: writes one after the other, looks at once. */
  readonly drill?: { readonly rounds?: number; readonly looks?: number };
  /** Opens and makes what is opened or made for good when it is first used. */
  warm?(): Promise<void>;
  /** What that worker's connections go through; empty without a server. */
  links(slot: number): readonly CutProxy[];
  /** How many connections a worker may keep: its pools. */
  readonly connectionsPerWorker: number;
  readonly server: SiteServer | undefined;
  /** Whether the store's clock never goes back, whatever wall clocks do (S13). */
  readonly isMonotonic: boolean;
  /** The store, without anything between. */
  openStore(): Promise<Store>;
  readCounters(): Promise<Counted>;
  /** Descriptors of the server, connections it has, files of the store. */
  counts(): Promise<Counts>;
  remove(): Promise<void>;
}

export interface SiteServer {
  readonly port: number;
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Whether it answers a question, not only the telephone. */
  answers(): Promise<boolean>;
}

const REVIVAL_MS = 90_000;

/** Waits until the server answers; one that has died (a full disk can do that) is started again. */
export async function revive(server: SiteServer): Promise<void> {
  let failure: unknown;
  for (const end = performance.now() + REVIVAL_MS; performance.now() < end;) {
    if (await server.answers().catch(() => false)) return;
    try {
      if (!(await accepts(server.port))) {
        await server.kill();
        await server.start();
      }
    } catch (error) {
      failure = error; // its port may be taken for a moment by somebody else's connection
    }
    await delay(100);
  }
  throw new Error(`the server did not come back within ${REVIVAL_MS} ms`, { cause: failure });
}

/** One waits for another: what is made when somebody first waits is there from then on. */
export async function waitOnce(leases: Holdfast): Promise<void> {
  const held = await leases.acquire('warm', { owner: 'holds', ttl: 1_000, renew: 'manual' });
  await (await leases.acquire('warm', { owner: 'waits' })).release(); // when that has run out
  await held.release();
}

/** Descriptors of a process by what they lead to. */
export function descriptorsOf(pid: number): Counts {
  const counts: Counts = {};
  for (const fd of readdirSync(`/proc/${pid}/fd`)) {
    try {
      const target = basename(readlinkSync(`/proc/${pid}/fd/${fd}`).replace(/:\[\d+\]$/, ''));
      counts[`server fd ${target}`] = (counts[`server fd ${target}`] ?? 0) + 1;
    } catch {
      // closed meanwhile
    }
  }
  return counts;
}

/** What is in these folders, each name once. */
export function filesIn(...folders: readonly string[]): Counts {
  return Object.fromEntries(folders.flatMap((folder) => readdirSync(folder).map((name) => [`file ${name}`, 1])));
}

export function openConnections(links: readonly CutProxy[]): { readonly connections: number } {
  return { connections: links.reduce((sum, link) => sum + link.open, 0) };
}
