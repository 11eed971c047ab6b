// What the doctor knows before it judges: everything was read with bounded calls, and what could not be read is said, not
// guessed. Checks are pure functions of this, so that each can be tried with any state of the world.
import type { Lease } from '../domain/lease.js';
import type { LogRow } from '../domain/events.js';
import type { StreamFigures } from '../domain/sequence.js';
import { DEFAULT_SETTINGS, type Settings } from '../domain/settings.js';
import type { WaitGraph } from '../domain/wait-graph.js';
import type { StoreHealth } from '../stores/store-health.js';
import { duration } from './words.js';

/** How far back the causes are looked for: the runbook's five minutes. */
export const WINDOW_MS = 5 * 60_000;

export interface Calls {
  /** Round trips that were answered, in milliseconds. */
  readonly answeredMs: readonly number[];
  /** Calls that were not answered in time. */
  readonly timedOut: number;
  readonly limitMs: number;
}

export interface Facts {
  readonly kind: string;
  readonly namespace: string;
  /** Only this name was looked at. */
  readonly resource?: string | undefined;
  /** Store clock, milliseconds. */
  readonly now: number;
  /** From when on the log was read. */
  readonly since: number;
  readonly settings: Settings;
  /** Live leases and tickets. */
  readonly leases: readonly Lease[];
  readonly tickets: readonly Lease[];
  readonly graph: WaitGraph;
  /** Oldest first. */
  readonly log: readonly LogRow[];
  /** Records of leases that ended within the window, as far as the store still has them. */
  readonly ended: ReadonlyMap<string, Lease>;
  readonly streams: readonly StreamFigures[];
  readonly calls: Calls;
  /** This machine's wall clock against the store's. */
  readonly ownSkewMs: number;
  readonly health?: StoreHealth | undefined;
  /** Processes that had the write lock of a SQLite file each time it was looked at. */
  readonly stuckWriter?: number | undefined;
  /** Where a bound ended a read before its end. */
  readonly cutShort: readonly string[];
  /** What could not be read, and why. */
  readonly unread: readonly { readonly what: string; readonly why: string }[];
}

/** What the checks looked back over, in words. */
export function windowOf({ now, since }: Pick<Facts, 'now' | 'since'>): string {
  return duration(now - since);
}

/** A world in which nothing happens: what a test or a failed read starts from. */
export function noFacts(kind: string, namespace: string, now: number): Facts {
  return {
    kind,
    namespace,
    now,
    since: now - WINDOW_MS,
    settings: DEFAULT_SETTINGS,
    leases: [],
    tickets: [],
    graph: { tickets: [] },
    log: [],
    ended: new Map(),
    streams: [],
    calls: { answeredMs: [], timedOut: 0, limitMs: 0 },
    ownSkewMs: 0,
    cutShort: [],
    unread: [],
  };
}
