// The doctor (C9): reads facts from a store, asks every check, and answers what it found. It changes nothing.
//
//   now:          one look over the last five minutes
//   --for 60s:    look at the clock and the store once a second for that long, then one look over what was watched, so that
//                 yesterday's trouble does not hide whether today's cure holds
import type { Clock } from '../domain/clock.js';
import { checkName } from '../domain/resource-name.js';
import type { Store } from '../stores/store.js';
import { clockSkew } from './checks/clocks.js';
import { storeLatency } from './checks/latency.js';
import { ownersCompeting, partition, restartedTwin } from './checks/owners.js';
import { renewalsFailing } from './checks/renewals.js';
import { storeHealth } from './checks/store-health.js';
import { streamTrouble } from './checks/streams.js';
import { deadlocks, oldLeases, storeRestarted, stuckQueues } from './checks/waiting.js';
import { noFacts, WINDOW_MS, windowOf, type Calls, type Facts } from './facts.js';
import { bySeverity, finding, type Finding } from './finding.js';
import { CALL_LIMIT_MS, Reading, rest } from './reading.js';
import { percentile } from './words.js';

export interface DoctorOptions {
  readonly clock: Clock;
  /** Only this name. */
  readonly resource?: string | undefined;
  /** Watch for so long first. */
  readonly watchMs?: number | undefined;
  /** Ends the watch: what was seen until then is answered. */
  readonly signal?: AbortSignal | undefined;
  /** Called about once a second while it watches. */
  readonly onTick?: ((leftMs: number) => void) | undefined;
}

export interface Diagnosis {
  /** The worst there is. */
  readonly verdict: 'wrong' | 'warning' | 'well';
  readonly findings: readonly Finding[];
  readonly store: string;
  readonly namespace: string;
  readonly resource?: string;
  readonly looked: {
    readonly overMs: number;
    readonly leases: number;
    readonly waiting: number;
    readonly events: number;
    readonly streams: number;
    readonly latencyMs: { readonly p50: number; readonly max: number };
    readonly unanswered: number;
    /** Where a bound ended a read before its end. */
    readonly cutShort: readonly string[];
  };
  /** How often each type of event happened. */
  readonly happened: Readonly<Record<string, number>>;
}

const CHECKS: readonly ((facts: Facts) => Finding[])[] = [
  storeLatency,
  storeHealth,
  storeRestarted,
  ownersCompeting,
  partition,
  renewalsFailing,
  restartedTwin,
  clockSkew,
  deadlocks,
  stuckQueues,
  oldLeases,
  streamTrouble,
  notLookedAt,
];
const TICK_MS = 1_000;
const NO_CALLS: Calls = { answeredMs: [], timedOut: 0, limitMs: CALL_LIMIT_MS };

export async function diagnose(store: Store, options: DoctorOptions): Promise<Diagnosis> {
  if (options.resource !== undefined) checkName(options.resource);
  const watched = options.watchMs === undefined ? undefined : await watch(store, options, options.watchMs);
  return judge(await gather(store, options, watched));
}

interface Watched {
  readonly since: number | undefined;
  readonly calls: Calls;
}

async function watch(store: Store, { clock, signal, onTick }: DoctorOptions, watchMs: number): Promise<Watched> {
  const reading = new Reading(store, clock);
  const until = clock.monotonic() + watchMs;
  const answeredMs: number[] = [];
  let [since, timedOut]: [number | undefined, number] = [undefined, 0];
  for (let left = watchMs; left > 0 && signal?.aborted !== true; left = until - clock.monotonic()) {
    const sample = await reading.sample();
    since ??= sample?.now;
    if (sample === undefined) timedOut += 1;
    else answeredMs.push(sample.tookMs);
    onTick?.(Math.max(0, until - clock.monotonic()));
    await rest(clock, Math.max(0, Math.min(TICK_MS, until - clock.monotonic())), signal);
  }
  return { since, calls: { answeredMs, timedOut, limitMs: CALL_LIMIT_MS } };
}

async function gather(store: Store, { clock, resource }: DoctorOptions, watched: Watched | undefined): Promise<Facts> {
  const reading = new Reading(store, clock);
  const { calls, now = clock.wall(), skewMs } = await reading.calls();
  const since = watched?.since ?? now - WINDOW_MS;
  const none = noFacts(store.kind, store.namespace, now);
  const isSilent = calls.answeredMs.length === 0;
  const health = await reading.read('health', undefined, async () => {
    const asked = store.health?.();
    return asked && (await reading.within('health', asked));
  });
  const known: Facts = {
    ...none,
    resource,
    since,
    calls: together(calls, watched?.calls ?? NO_CALLS),
    ownSkewMs: isSilent ? 0 : skewMs,
    health,
    cutShort: reading.cutShort,
    unread: reading.unread,
  };
  if (isSilent) {
    reading.unread.push({ what: 'leases, queues and the log', why: 'not asked for: the store does not answer' });
    return known;
  }
  const live = await reading.read('leases', [], () => reading.live(resource));
  const log = await reading.read('the log', [], () => reading.log(since, resource));
  return {
    ...known,
    settings: await reading.read('settings', none.settings, async () => {
      const { settings } = await reading.within('settings', store.settings());
      return settings;
    }),
    leases: live.filter(({ status }) => status === 'active'),
    tickets: live.filter(({ status }) => status === 'pending'),
    graph: await reading.read('the wait graph', none.graph, () => reading.within('waitGraph', store.waitGraph())),
    log,
    ended: await reading.read('ended leases', none.ended, () => reading.ended(log)),
    streams: resource === undefined ? await reading.read('streams', none.streams, () => reading.streams()) : [],
    stuckWriter: await reading.read('the write lock', undefined, () => reading.stuckWriter()),
  };
}

function together(a: Calls, b: Calls): Calls {
  return { answeredMs: [...a.answeredMs, ...b.answeredMs], timedOut: a.timedOut + b.timedOut, limitMs: a.limitMs };
}

/** Every check over the same facts; the worst first. */
export function judge(facts: Facts): Diagnosis {
  const findings = bySeverity(CHECKS.flatMap((check) => check(facts)));
  const { answeredMs, timedOut } = facts.calls;
  const happened: Record<string, number> = {};
  for (const { type } of facts.log) happened[type] = (happened[type] ?? 0) + 1;
  const worst = findings[0]?.severity;
  return {
    verdict: worst === undefined || worst === 'note' ? 'well' : worst,
    findings,
    store: facts.kind,
    namespace: facts.namespace,
    ...(facts.resource === undefined ? {} : { resource: facts.resource }),
    looked: {
      overMs: facts.now - facts.since,
      leases: facts.leases.length,
      waiting: facts.tickets.length,
      events: facts.log.length,
      streams: facts.streams.length,
      latencyMs: { p50: rounded(percentile(answeredMs, 50)), max: rounded(Math.max(0, ...answeredMs)) },
      unanswered: timedOut,
      cutShort: facts.cutShort,
    },
    happened,
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}

function notLookedAt(facts: Facts): Finding[] {
  const found: Finding[] = [];
  if (!facts.settings.keep_history) {
    const what = 'keep_history is off: causes that show only in the log cannot be found';
    found.push(finding('not-looked-at', 'warning', what, [], 'holdfast config set keep_history true'));
  }
  if (facts.unread.length > 0) {
    const evidence = facts.unread.map(({ what, why }) => `${what}: ${why}`);
    found.push(finding('not-looked-at', 'warning', 'some things could not be read', evidence, 'holdfast doctor'));
  }
  if (facts.cutShort.length > 0) {
    const what = `there is more than one look reads; over ${windowOf(facts)} it saw`;
    found.push(finding('not-looked-at', 'note', what, facts.cutShort, 'holdfast doctor RESOURCE'));
  }
  return found;
}
