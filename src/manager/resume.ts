// Taking over a lease that was delegated here (A6): one step that draws a new epoch, repeated under one request id while
// its answer is unknown. From then on the document is worth nothing, and the lease is looked after like any other.
//
//   asking ──changed──▶ held      asking ──a definite no──▶ refused
//     └─no answer in time──▶ an error, and unknown: the request id is kept, and whoever calls again with the same document
//                            asks the same question (S15). If nobody does, a lease that was taken over lapses by its ttl (S9).
import { LeaseError } from '../domain/errors.js';
import type { ChangeRequest } from '../domain/requests.js';
import { backoffMs, checkTiming, defaultRequestTimeoutMs, trustedUntil } from '../domain/trust-window.js';
import type { ChangeResult } from '../stores/store.js';
import { askUntilAnswered, type Answered } from './ask-until-answered.js';
import { readDocument, type DelegatedLease } from './delegation.js';
import type { HeldLease } from './face.js';
import type { LeaseManager } from './lease-manager.js';
import type { HoldTerms } from './plan.js';
import { pinned } from './refusals.js';

const ATTEMPTS = 3;
/** Unanswered requests that are kept; the oldest goes first. */
const MOST_UNANSWERED = 1_000;

export class Resuming {
  readonly #manager: LeaseManager;
  /** By the id and epoch of the document. */
  readonly #unanswered = new Map<string, string>();
  readonly #asking = new Map<string, Promise<unknown>>();

  constructor(manager: LeaseManager) {
    this.#manager = manager;
  }

  /** A shutdown waits for it, and for the end of what came too late. */
  resume(json: unknown): Promise<HeldLease> {
    return this.#manager.cleanups.note(this.#resume(json));
  }

  async #resume(json: unknown): Promise<HeldLease> {
    this.#manager.checkOpen();
    const document = readDocument(json, this.#manager.link.store);
    const terms = termsFor(this.#manager, document);
    return adopted(this.#manager, document, terms, await this.#askInTurn(document, terms));
  }

  /** Two who ask for one document at once would each have an id, and one of them would be forgotten. */
  async #askInTurn(document: DelegatedLease, terms: HoldTerms): Promise<Answered> {
    const key = `${document.id} ${document.epoch}`;
    const before = this.#asking.get(key) ?? Promise.resolve();
    const asked = before.then(() => this.#ask(key, document, terms));
    const settled = asked.catch(() => undefined);
    this.#asking.set(key, settled);
    try {
      return await asked;
    } finally {
      if (this.#asking.get(key) === settled) this.#asking.delete(key);
    }
  }

  async #ask(key: string, document: DelegatedLease, { requestTimeoutMs }: HoldTerms): Promise<Answered> {
    const { clock, defaults } = this.#manager;
    const { id, epoch, ttlMs } = document;
    const requestId = this.#unanswered.get(key) ?? clock.randomText();
    this.#unanswered.delete(key);
    const toOwner = defaults.owner;
    const request: ChangeRequest = { kind: 'resume', id, epoch, requestId, toOwner, callerWall: clock.wall() };
    try {
      const answer = await askUntilAnswered(this.#manager, request, {
        timeoutMs: requestTimeoutMs,
        pauseMs: backoffMs(ttlMs),
        mayRetry: (_, attempt) => attempt < ATTEMPTS,
      });
      if (answer.result.outcome === 'pinned') this.#keep(key, requestId); // an earlier copy may still be on its way
      return answer;
    } catch (error) {
      this.#keep(key, requestId);
      throw error;
    }
  }

  #keep(key: string, requestId: string): void {
    this.#unanswered.set(key, requestId);
    const [oldest = ''] = this.#unanswered.keys();
    if (this.#unanswered.size > MOST_UNANSWERED) this.#unanswered.delete(oldest);
  }
}

function adopted(
  manager: LeaseManager,
  document: DelegatedLease,
  terms: HoldTerms,
  { result, sent }: Answered,
): HeldLease {
  const { clock, announcer, cleanups } = manager;
  const { id, epoch } = document;
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
