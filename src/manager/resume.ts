// Taking over a lease that was delegated here (A6): one step that draws a new epoch, repeated under one request id while
// its answer is unknown. From then on the document is worth nothing, and the lease is looked after like any other.
import { LeaseError } from '../domain/errors.js';
import type { ChangeRequest } from '../domain/requests.js';
import { backoffMs, checkTiming, defaultRequestTimeoutMs, trustedUntil } from '../domain/trust-window.js';
import type { ChangeResult } from '../stores/store.js';
import { askUntilAnswered } from './ask-until-answered.js';
import { readDocument, type DelegatedLease } from './delegation.js';
import type { HeldLease } from './face.js';
import type { LeaseManager } from './lease-manager.js';
import type { HoldTerms } from './plan.js';
import { pinned } from './refusals.js';

const ATTEMPTS = 3;

export async function resume(manager: LeaseManager, json: unknown): Promise<HeldLease> {
  manager.checkOpen();
  const { clock, link, defaults, announcer, cleanups } = manager;
  const document = readDocument(json, link.store);
  const terms = termsFor(manager, document);
  const { id, epoch } = document;
  const request: ChangeRequest = {
    kind: 'resume',
    id,
    epoch,
    requestId: clock.randomText(),
    toOwner: defaults.owner,
    callerWall: clock.wall(),
  };
  const { result, sent } = await askUntilAnswered(manager, request, {
    timeoutMs: terms.requestTimeoutMs,
    pauseMs: backoffMs(document.ttlMs),
    mayRetry: (_, attempt) => attempt < ATTEMPTS,
  });
  if (result.outcome !== 'changed') throw refused(document, result);
  const { lease, remainingMs } = result;
  const isTooLate = trustedUntil(sent.sentAt, remainingMs, lease.ttlMs) <= clock.monotonic();
  if (isTooLate || manager.isClosed) {
    const end = { id, epoch: lease.epoch, requestId: clock.randomText(), why: 'released' } as const;
    cleanups.end(end, lease.ttlMs, terms.requestTimeoutMs).catch(() => undefined);
    manager.checkOpen();
    throw new LeaseError('STORE_UNAVAILABLE', 'the lease was taken over too late to be trusted, and was released');
  }
  announcer.changed('lease.delegated', lease, { fromOwner: document.owner, fromEpoch: epoch, resumed: true });
  return manager.adopt(lease, terms, { ...sent, remainingMs });
}

function termsFor({ defaults }: LeaseManager, { ttlMs, renew }: DelegatedLease): HoldTerms {
  const requestTimeoutMs = defaults.requestTimeoutMs ?? defaultRequestTimeoutMs(ttlMs);
  const terms = { isAuto: renew === 'auto', renewAt: defaults.renewAt, requestTimeoutMs };
  if (terms.isAuto) checkTiming({ ttlMs, ...terms });
  return terms;
}

function refused(document: DelegatedLease, result: Exclude<ChangeResult, { outcome: 'changed' }>): LeaseError {
  const [name = 'the lease'] = document.resources;
  if (result.outcome === 'pinned') {
    return pinned(document.resources.map((name) => ({ name, scope: 'node', mode: 'exclusive' })));
  }
  if (result.epoch !== undefined) {
    const details = { current: result.epoch, attempted: document.epoch };
    return new LeaseError(
      'STALE_EPOCH',
      `${name} has moved on (current epoch ${result.epoch}, this document's ${document.epoch}): it was resumed already`,
      { details },
    );
  }
  return new LeaseError('NOT_HELD', `${name} is ${result.status} in this store: there is nothing left to resume`, {
    details: { status: result.status },
  });
}
