// From an open store to everything the routes work with, and back: what is closed is closed in the opposite order.
import { connect } from '../connect.js';
import type { Clock } from '../domain/clock.js';
import type { Observer } from '../manager/observer.js';
import { answerWithin } from '../manager/store-link.js';
import type { Logger } from '../observe/logger.js';
import { openMetrics, type Metrics } from '../observe/metrics.js';
import { observe } from '../services/observing.js';
import type { Store } from '../stores/store.js';
import { TokenAccess } from './access/index.js';
import type { ServerContext, ServerLimits } from './context.js';
import { Waits } from './door/index.js';
import { EventStream } from './event-stream.js';
import { LeaseDesk } from './lease-desk.js';
import { StreamRecovery } from './stream-recovery.js';

const FIRST_ANSWER_MS = 10_000;
const LAST_ENDS_MS = 2_000;

export interface AssembleParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: ServerLimits;
  readonly version: string;
  readonly webhookSecret: string | undefined;
  readonly draining: AbortSignal;
}

export interface Assembled {
  readonly context: ServerContext;
  close(): Promise<void>;
}

export async function assemble(parts: AssembleParts): Promise<Assembled> {
  const closers: Closer[] = [];
  const close = async (): Promise<void> => {
    for (const [what, closer] of closers.splice(0).reverse()) await quietly(parts.logger, what, closer);
  };
  try {
    return { context: await put(parts, closers), close };
  } catch (error) {
    await close();
    throw error;
  }
}

type Closer = readonly [what: string, close: () => unknown];

async function put(parts: AssembleParts, closers: Closer[]): Promise<ServerContext> {
  const { store, clock, logger, limits, version, webhookSecret, draining } = parts;
  closers.push(['the store', () => store.close()]);
  const { capabilities } = await answerWithin(clock, FIRST_ANSWER_MS, 'info', store.info());
  const access = new TokenAccess({ store, clock, logger });
  closers.push(['tokens', () => access.stop()]);
  await access.start();
  const owner = `server-${clock.randomText().slice(0, 8)}`;
  const observing = await observe({ store, owner, clock, logger, webhookSecret });
  const leases = await connect(store, { owner, clock, logger, services: 'auto', metrics: observing.registry });
  closers.push(['services', () => leases.shutdown()]);
  observing.onAlert = (facts) => leases.announce(facts);
  observing.start();
  closers.push(['metrics and alerts', () => observing.stop()]);
  const observer = observerOf(await openMetrics(observing.registry));
  const desk = new LeaseDesk({ store, clock, observer, minTtlMs: capabilities.minTtlMs });
  closers.push(['waiting requests', () => desk.close(LAST_ENDS_MS)]);
  const waits = new Waits(access, { most: limits.waits, mostPerToken: limits.waitsPerToken }, draining);
  const events = new EventStream({ leases, store, clock, logger, limits, access, draining });
  const recovery = new StreamRecovery({ store, leases, logger, clock });
  await answerWithin(clock, FIRST_ANSWER_MS, 'streams', recovery.start());
  return {
    ...{ store, leases, desk, clock, logger, access, limits, waits, events, recovery, observing, version, draining },
    isDraining: () => draining.aborted,
  };
}

/** One part that cannot be closed in order does not keep the others from it. */
async function quietly(logger: Logger, what: string, close: Closer[1]): Promise<void> {
  try {
    await close();
  } catch (error) {
    logger.warn({ err: error }, `${what} could not be closed in order`);
  }
}

/** What the desk counts, beside what the server's own connection does. Leases of clients are not this process's. */
function observerOf(metrics: Metrics): Observer {
  const nothing = (): void => undefined;
  return {
    wants: () => false,
    announce: nothing,
    acquisition: (result, waitMs) => metrics.acquisition(result, waitMs),
    renewals: (result, count) => metrics.renewals(result, count),
    conflict: () => metrics.conflict(),
    held: nothing,
    holdEnded: nothing,
    storeCall: (operation, result, ms) => metrics.storeCall(operation, result, ms),
    skew: nothing,
  };
}
