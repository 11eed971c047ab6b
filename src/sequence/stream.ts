// A stream as its users have it (N1 to N6): leasing numbers, reading in order, waiting for one's turn. Everything that
// decides is in the store; here requests are made and answers become handles, values and errors.
import { checkKeys } from '../domain/check-keys.js';
import { checkLimit, checkOperationId } from '../domain/check-request.js';
import { checkCount, checkKind, checkNumber, checkStream } from '../domain/check-sequence.js';
import { parseDuration } from '../domain/duration.js';
import { LeaseError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { StreamFigures } from '../domain/sequence.js';
import type { LeaseNumbers } from '../domain/sequence-requests.js';
import { marginMs } from '../domain/trust-window.js';
import { SAFETY_POLL_MS, waitFor, type Shared } from './barrier.js';
import type { LeaseNumberOptions, Settled, Stream, StreamReader, WaitOptions } from './face.js';
import { Gaps } from './gaps.js';
import { HeldNumbers, type Leased } from './held-numbers.js';
import { otherLease, settledAlready, toSettled, trimmedAway } from './outcomes.js';
import { Reader } from './reader.js';
import { RecoveryOf } from './recovery/recovery-of.js';
import type { Recoverer } from './recovery/recoverer.js';
import type { Registry } from './recovery/registry.js';
import type { ResultKeeper } from './result-keeper.js';

const KNOWN: ReadonlySet<string> = new Set<keyof LeaseNumberOptions>(['operationId', 'kind', 'ttl', 'count']);
const DEFAULT_TTL_MS = 120_000;
/** How long a lease waits for a store that is away, or for a recoverer to be done with the operation. */
const PATIENCE_MS = 30_000;
const MOST_TRIM_STEPS = 10_000;

export interface StreamParts extends Shared {
  readonly keeper: ResultKeeper | undefined;
  readonly recoverer: Recoverer;
  readonly registry: Registry;
  /** In recovery mode leases live longer (V5). */
  readonly stretched: (ttlMs: number) => Promise<number>;
}

export class OpenStream<Op> implements Stream<Op> {
  readonly name: string;
  readonly gaps: Gaps<Op>;
  readonly recovery: RecoveryOf<Op>;
  readonly #parts: StreamParts;

  constructor(parts: StreamParts, name: string) {
    this.name = checkStream(name);
    this.#parts = parts;
    this.gaps = new Gaps(parts.link, this.name);
    this.recovery = new RecoveryOf(parts, this.name);
  }

  /** A shutdown waits for the answer, and gives back what it brings. */
  lease(options: LeaseNumberOptions): Promise<HeldNumbers<Op>> {
    return this.#parts.work.note(this.#lease(options));
  }

  async #lease(options: LeaseNumberOptions): Promise<HeldNumbers<Op>> {
    const request = await this.#request(options);
    const { link, room } = this.#parts;
    const until = link.clock.monotonic() + PATIENCE_MS;
    link.intake.throwIfAborted();
    await link.untilAnswered(until, () => link.mayWrite(this.name));
    const wake = room.listen(this.name);
    try {
      for (;;) {
        let sent = { sentAt: 0, sentWall: 0 };
        const { result } = await link.untilAnswered(until, () => {
          sent = { sentAt: link.clock.monotonic(), sentWall: link.clock.wall() };
          return link.lease(request);
        });
        if (result.outcome === 'settled') throw settledAlready(request, result.items);
        if (result.outcome === 'mismatch') throw otherLease(request);
        if (result.outcome === 'leased') {
          if (link.intake.aborted) return await this.#giveUp(request, result);
          const held = new HeldNumbers<Op>(this.#parts, request, result, sent, this.#parts.keeper);
          if (held.isHeld) return held;
          await this.#prolong(request, result, until);
        }
        if (link.clock.monotonic() >= until) throw stillRecovered(request);
        const waitMs = result.outcome === 'recovering' ? result.retryAfterMs : 0;
        await wake.rung(Math.min(waitMs, SAFETY_POLL_MS), [link.intake]);
        link.intake.throwIfAborted();
      }
    } finally {
      wake.leave();
    }
  }

  /**
   * S7: less than the margin was left of it when the answer arrived. It is this operation's own number, so it is prolonged, not given
   * up, and then asked for again: the same number, or what became of it (N1).
   */
  async #prolong({ stream, operationId, ttlMs }: LeaseNumbers, { epoch }: Leased, until: number): Promise<void> {
    const { link } = this.#parts;
    const longMs = Math.min(ttlMs + marginMs(ttlMs), LIMITS.ttlMs);
    const request = { stream, operationId, epoch, progress: { what: 'renew', ttlMs: longMs } } as const;
    await link.untilAnswered(until, () => link.progress(request));
  }

  /** A shutdown has begun meanwhile: nothing new is begun, and what nobody will use is in everybody's way. */
  async #giveUp({ stream, operationId }: LeaseNumbers, { epoch, again }: Leased): Promise<never> {
    const { link } = this.#parts;
    const request = { stream, operationId, epoch, reason: 'shutdown() was called' };
    if (!again) await link.call('release', (store) => store.release([request])).catch(() => undefined); // it lapses by its ttl
    throw link.intake.reason;
  }

  async #request(options: LeaseNumberOptions): Promise<LeaseNumbers> {
    checkKeys(options, KNOWN, 'of lease');
    const { operationId, kind, ttl = DEFAULT_TTL_MS, count = 1 } = options;
    const ttlMs = parseDuration(ttl, { name: 'ttl', minMs: LIMITS.minTtlManualMs, maxMs: LIMITS.ttlMs });
    return {
      stream: this.name,
      operationId: checkOperationId(operationId),
      kind: checkKind(kind),
      count: checkCount(count),
      ttlMs: await this.#parts.stretched(ttlMs),
      owner: this.#parts.link.owner,
    };
  }

  read(from: number, limit: number): Promise<Settled<Op>[]> {
    return this.#page(from, limit, true);
  }
  peek(from: number, limit: number): Promise<Settled<Op>[]> {
    return this.#page(from, limit, false);
  }

  async #page(from: number, limit: number, seal: boolean): Promise<Settled<Op>[]> {
    checkNumber(from, 'from');
    checkLimit(limit);
    const order = { stream: this.name, from, limit, seal, watch: false };
    const { items, trimmedBefore } = await this.#parts.link.call('read', (store) => store.read(order));
    if (from < trimmedBefore) throw trimmedAway(this.name, from, trimmedBefore);
    return items.map((item) => toSettled<Op>(item));
  }

  reader(name: string): StreamReader<Op> {
    return new Reader<Op>(this.#parts, this.name, name);
  }

  async watermark(): Promise<number> {
    const order = { stream: this.name, from: Number.MAX_SAFE_INTEGER, limit: 1, seal: false, watch: false };
    return (await this.#parts.link.call('read', (store) => store.read(order))).watermark;
  }

  waitFor(number: number, options?: WaitOptions): Promise<void> {
    return waitFor(this.#parts, this.name, number, options);
  }

  async trim(before: number): Promise<number> {
    checkNumber(before, 'before');
    const order = { stream: this.name, before, limit: LIMITS.rowsPerStep };
    let removed = 0;
    for (let step = 0; step < MOST_TRIM_STEPS; step += 1) {
      const reply = await this.#parts.link.call('trim', (store) => store.trim(order));
      removed += reply.removed;
      if (!reply.more) break;
    }
    return removed;
  }

  async figures(): Promise<StreamFigures | undefined> {
    const query = { stream: this.name, limit: 1 };
    return (await this.#parts.link.call('streams', (store) => store.streams(query))).streams[0];
  }
}

function stillRecovered({ stream, operationId }: LeaseNumbers): LeaseError {
  return new LeaseError(
    'ACQUIRE_TIMEOUT',
    `operation ${operationId} of ${stream} is being recovered: ask again later`,
    {
      details: { stream, operationId },
    },
  );
}
