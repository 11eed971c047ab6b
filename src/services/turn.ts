// Turns: of all processes that run a service for a namespace, one works in each interval. A turn is an ordinary lease in
// the namespace `_holdfast`, kept by its `minHold` for most of the interval, so that the others find it taken (O1). Nothing
// depends on it for correctness: every service may run twice at once without harm.
//
// Work that failed or was cut short gives the turn back without its `minHold`, so that whoever comes next goes on. A turn
// is trusted until its deadline, counted from when it was asked for (S7); then its signal aborts.
import type { Clock } from '../domain/clock.js';
import { LeaseError } from '../domain/errors.js';
import { makeId } from '../domain/ids.js';
import { LIMITS } from '../domain/limits.js';
import type { AcquireRequest } from '../domain/requests.js';
import { trustedUntil } from '../domain/trust-window.js';
import type { AcquireResult, Store } from '../stores/store.js';

export const INTERNAL_NAMESPACE = '_holdfast';
const TURN_TTL_MS = 60_000;
/** Less than the shortest jittered interval: the process that worked finds its own turn free again. */
const HOLD_SHARE = 0.9;

export interface TurnOptions {
  readonly service: string;
  readonly namespace: string;
  readonly everyMs: number;
  readonly owner: string;
  readonly clock: Clock;
  /** Of the service's tick. */
  readonly signal: AbortSignal;
}

export interface Turn {
  /** Aborts at the deadline, or with the service. */
  readonly signal: AbortSignal;
  /** Compares the clock at the call, so that a stalled loop hides nothing. Ask before what cannot be undone. */
  throwIfOver(): void;
}

/** `done`: nothing left until the next interval. `more`: there is, but this was enough for one turn. */
export type Work = 'done' | 'more';

export function turnName(namespace: string, service: string): string {
  return `services/namespace:${namespace}/${service}`;
}

/** Runs `work` if it is this process's turn; `refused` is no error. */
export async function takeTurn(
  store: Store,
  options: TurnOptions,
  work: (turn: Turn) => Promise<Work>,
): Promise<Work | 'refused'> {
  const home = store.within(INTERNAL_NAMESPACE);
  const { clock } = options;
  const { now } = await home.time();
  const request = requestFor(options, now);
  const sentAt = clock.monotonic();
  const granted = await ask(home, request, clock);
  if (!granted) return 'refused';
  const deadline = trustedUntil(sentAt, granted.remainingMs, TURN_TTL_MS);
  let isKept = false;
  try {
    const outcome = await runUntil(deadline, options, work);
    isKept = outcome === 'done' && !options.signal.aborted;
    return outcome;
  } finally {
    await letGo(home, granted.lease, options, isKept);
  }
}

function requestFor({ service, namespace, everyMs, owner, clock }: TurnOptions, now: number): AcquireRequest {
  return {
    id: makeId(now, clock.randomText()),
    bornAt: now,
    owner,
    parts: [{ name: turnName(namespace, service), scope: 'node', mode: 'exclusive' }],
    ttlMs: TURN_TTL_MS,
    priority: 0,
    join: false,
    holding: [],
    reclaim: false,
    maxRenewals: 0,
    minHoldMs: Math.min(Math.floor(everyMs * HOLD_SHARE), LIMITS.minHoldMs),
    lockDelayMs: 0,
    remote: false,
    callerWall: clock.wall(),
  };
}

type Granted = Extract<AcquireResult, { outcome: 'granted' }>;

/** S15: without an answer the id is ended, so that a grant nobody heard of keeps nobody out. */
async function ask(home: Store, request: AcquireRequest, clock: Clock): Promise<Granted | undefined> {
  try {
    const [result] = (await home.acquire([request])).results;
    if (result?.outcome === 'granted') return result;
    if (result?.outcome === 'refused') return undefined;
    if (result?.outcome === 'failed') throw result.error;
    throw new LeaseError('STORE_UNAVAILABLE', `asked for a turn, the store answered ${result?.outcome ?? 'nothing'}`);
  } catch (error) {
    const end = { id: request.id, requestId: clock.randomText(), why: 'cancelled' } as const;
    await home.end([end]).catch(() => undefined); // then it lapses with its ttl
    throw error;
  }
}

async function runUntil(deadline: number, options: TurnOptions, work: (turn: Turn) => Promise<Work>): Promise<Work> {
  const { clock, service } = options;
  const over = new AbortController();
  const lost = new LeaseError('LEASE_LOST', `the turn of ${service} is over: its work took longer than its lease`);
  const stop = (): void => over.abort(options.signal.reason);
  const throwIfOver = (): void => {
    options.signal.throwIfAborted();
    if (clock.monotonic() >= deadline) throw lost;
  };
  throwIfOver(); // an answer that took too long is no turn
  const timer = clock.after(deadline - clock.monotonic(), () => over.abort(lost));
  options.signal.addEventListener('abort', stop);
  try {
    return await work({ signal: over.signal, throwIfOver });
  } finally {
    timer.cancel();
    options.signal.removeEventListener('abort', stop);
  }
}

async function letGo(
  home: Store,
  lease: { readonly id: string; readonly epoch: number },
  { owner, service, clock }: TurnOptions,
  isKept: boolean,
): Promise<void> {
  const { id, epoch } = lease;
  const gone = isKept
    ? home.end([{ id, epoch, requestId: clock.randomText(), why: 'released' }])
    : home.revoke({
        target: { leaseId: id },
        upToEpoch: epoch,
        reason: `${service} has not finished its turn`,
        actor: owner,
        keepOutMs: 0,
      });
  await gone.then(
    () => undefined,
    () => undefined, // a store that is gone now: the turn lapses with its ttl
  );
}
