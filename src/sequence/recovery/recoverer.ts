// The recoverer (V1 to V6): claims what is due, lowest numbers first, and settles each by the first step that succeeds. One
// failing number never stops the rest; whoever waits or reads calls it on demand, the recovery service every sweep interval.
//
//   claim ─▶ steps that load allows ─▶ settle: commit | move | gap ─▶ cleaners, when it is over
//                 └─ a step threw ─▶ settle: retry with backoff, after the last try manual
import type { Load } from '../../domain/load.js';
import { classifyLoad } from '../../domain/load.js';
import { LIMITS } from '../../domain/limits.js';
import type { Settlement, SettleRequest } from '../../domain/sequence-requests.js';
import type { Claimed, OperationState } from '../../domain/sequence.js';
import type { SettleResult } from '../../stores/sequence-store.js';
import { pause, type SequenceLink } from '../sequence-link.js';
import type { Cascade } from './cascade.js';
import { askAgain, ClaimKeeper } from './claim-keeper.js';
import { runCleaners } from './cleanup.js';
import { Decider } from './decider.js';
import type { Registry } from './registry.js';

export interface RecoveryLog {
  debug(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/** A claim is renewed while its recoverer works, so it need not be long: one that nobody knows of, because its answer was lost
 *  or its process ended, blocks the stream until it runs out. */
const CLAIM_MS = 15_000;
/** How long a settle is asked again. */
const SETTLE_MS = 60_000;
const BATCH = 100;
const MOST_BATCHES = 100;
const LAG_SAMPLE_MS = 1;

export interface Recovered {
  readonly settled: number;
  readonly failed: number;
  readonly more: boolean;
}

interface RunOrder {
  readonly stream?: string;
  readonly isSweep: boolean;
  readonly signal?: AbortSignal;
}

export interface RecovererParts {
  readonly link: SequenceLink;
  readonly registry: Registry;
  readonly cascade: Cascade;
  readonly log: RecoveryLog;
  /** The loop's lag as the services know it, where they run. */
  readonly loopLagMs: () => number | undefined;
}

export class Recoverer {
  readonly #parts: RecovererParts;
  readonly #decider: Decider;
  readonly #onDemand = new Map<string, Promise<void>>();
  readonly #running = new Set<Promise<unknown>>();

  constructor(parts: RecovererParts) {
    this.#parts = parts;
    this.#decider = new Decider(parts.link.clock, parts.registry);
  }

  /** For whoever waits for a stream: what blocks it is dealt with, or somebody else is at it. Never rejects. */
  unblock(stream: string): Promise<void> {
    const order = { stream, isSweep: false };
    return this.#once(stream, 'numbers', async () => {
      const { settled, failed } = await this.#recoverDue(order, false);
      // Gaps block nobody, and what is kept with them may take minutes: the next number that expires does not wait for them.
      if (settled + failed > 0) this.#once(stream, 'gaps', () => this.#recoverDue(order, true)).catch(() => undefined);
    });
  }
  /** One run at a time, for however many ask. Never rejects. */
  #once(stream: string, what: 'numbers' | 'gaps', work: () => Promise<unknown>): Promise<void> {
    const key = `${what} of ${stream}`;
    const running = this.#onDemand.get(key);
    if (running) return running;
    const run = work()
      .then(() => undefined)
      .catch((error: unknown) =>
        this.#parts.log.warn({ err: error, stream }, `recovery of ${what} on demand failed; it is tried again`),
      )
      .finally(() => this.#onDemand.delete(key));
    this.#onDemand.set(key, run);
    return run;
  }

  /** Everything that is due, of one stream or of all: what blocks readers, then gaps with something to be tried again. */
  async run(order: RunOrder): Promise<Recovered> {
    const numbers = await this.#recoverDue(order, false);
    if (numbers.more) return numbers;
    const gaps = await this.#recoverDue(order, true);
    return { settled: numbers.settled + gaps.settled, failed: numbers.failed + gaps.failed, more: gaps.more };
  }

  /** Resolves when the number under way is settled, which is the last one in a shutdown. Never rejects. */
  async idle(): Promise<void> {
    await Promise.allSettled(this.#running);
  }

  #recoverDue(order: RunOrder, gapsToo: boolean): Promise<Recovered> {
    const run = this.#inBatches(order, gapsToo).finally(() => this.#running.delete(run));
    this.#running.add(run);
    return run;
  }

  /** A batch that was claimed is finished, but for a shutdown. With gaps: numbers that expire meanwhile go first. */
  async #inBatches({ stream, isSweep, signal }: RunOrder, gapsToo: boolean): Promise<Recovered> {
    const { link, cascade } = this.#parts;
    const settings = await link.manager.link.settings();
    let [settled, failed] = [0, 0];
    for (let batch = 0; batch < MOST_BATCHES; batch += 1) {
      if (gapsToo && (await this.#load(0)) !== 'low') return { settled: settled - failed, failed, more: false };
      const limit = cascade.isOn ? Math.min(settings.recovery_batch_size, LIMITS.batchItems) : BATCH;
      const order = { ...(stream === undefined ? {} : { stream }), limit, owner: link.owner, ttlMs: CLAIM_MS, gapsToo };
      const reply = await link.call('claim', (store) => store.claim(order));
      if (batch === 0 && !gapsToo) await cascade.observe(reply.backlog, settings, isSweep);
      const load = await this.#load(reply.backlog);
      failed += await this.#recoverAll(reply.claimed, load);
      settled += reply.claimed.length;
      const isOver = !reply.more || signal?.aborted === true || link.life.aborted;
      if (isOver) return { settled: settled - failed, failed, more: reply.more };
      if (cascade.isOn) await pause(link.clock, settings.recovery_batch_delay_ms, link.life);
    }
    return { settled: settled - failed, failed, more: true };
  }

  /** The worst of what the services measured and of a sample taken now: a stalled loop hides nothing. */
  async #load(expiredBacklog: number): Promise<Load> {
    const { link, loopLagMs } = this.#parts;
    const began = link.clock.monotonic();
    await pause(link.clock, LAG_SAMPLE_MS, link.life);
    const sample = Math.max(0, link.clock.monotonic() - began - LAG_SAMPLE_MS);
    return classifyLoad({
      loopLagMs: Math.max(sample, loopLagMs() ?? 0),
      storeLatencyMs: link.latencyMs,
      expiredBacklog,
    });
  }

  async #recoverAll(claimed: readonly Claimed[], load: Load): Promise<number> {
    const { link, log } = this.#parts;
    const keeper = new ClaimKeeper(link, CLAIM_MS, claimed);
    let failed = 0;
    try {
      for (const item of claimed) {
        // To give a claim back would count as a try that failed. It is not renewed any more, and runs out in seconds.
        if (link.life.aborted) return failed + claimed.length - claimed.indexOf(item);
        try {
          if (!(await this.#recover(item, load))) failed += 1;
        } catch (error) {
          failed += 1; // its claim runs out, and the next recoverer finds it
          log.warn({ err: error, stream: item.stream, number: item.first }, 'a number could not be settled');
        }
        keeper.done(item);
      }
    } finally {
      keeper.stop();
    }
    return failed;
  }

  /** False when it has to be tried again. */
  async #recover(item: Claimed, load: Load): Promise<boolean> {
    const { log } = this.#parts;
    const settlement = await this.#decider.decide(item, load);
    const { stream, operationId, claimEpoch, kind, first } = item;
    const { result, isRepeat } = await this.#settle({ stream, operationId, claimEpoch, settlement });
    if (result?.outcome === 'notHeld') {
      // Somebody else settled it, or has it now; or the try before this one did, and then nobody else cleans up.
      if (isRepeat && (await this.#isFoundOver(item, result.state))) await this.cleanUp(item);
      return true;
    }
    const facts = { stream, number: first, operationId, kind, load, to: settlement.to, overrunMs: item.overrunMs };
    if (settlement.to === 'retry') {
      log.warn({ ...facts, error: settlement.error }, 'recovery of a number failed; it is tried again');
      return false;
    }
    log.debug(facts, 'recovered');
    if (await this.#isOver(item, settlement)) await this.cleanUp(item);
    return settlement.to !== 'manual';
  }

  /** V4: whether nobody will try it again: not a gap that keeps its result, nor what waits for a person. */
  async #isOver(item: Claimed, settlement: Settlement): Promise<boolean> {
    if (settlement.to === 'commit' || settlement.to === 'move') return true;
    if (settlement.to !== 'gap' || settlement.againAfterMs !== undefined) return false;
    // A gap that was tried again may have been a person's order, and is in the queue still.
    return !item.isGap || !(await this.#isManual(item));
  }
  /** The same by what is found, where it is not known who settled it: a gap that keeps something may be tried again. */
  async #isFoundOver(item: Claimed, state: OperationState): Promise<boolean> {
    if (state !== 'gap') return state === 'committed' || state === 'filled' || state === 'moved';
    const query = { stream: item.stream, after: item.first - 1, limit: 1 };
    const { gaps } = await this.#parts.link.call('gaps', (store) => store.gaps(query));
    const gap = gaps.find(({ number }) => number === item.first);
    if (!gap || gap.movedTo !== undefined) return gap !== undefined;
    return !gap.hasResult && !(await this.#isManual(item));
  }
  async #isManual({ stream, first }: Claimed): Promise<boolean> {
    const query = { stream, after: { stream, number: first - 1 }, limit: 1 };
    const { items } = await this.#parts.link.call('manualItems', (store) => store.manualItems(query));
    return items[0]?.number === first;
  }

  /** Of an operation that is over for good (V6). Never rejects. */
  async cleanUp({ stream, kind, operationId }: Pick<Claimed, 'stream' | 'kind' | 'operationId'>): Promise<void> {
    const { link, registry, log } = this.#parts;
    const errors = await runCleaners(link.clock, registry.cleanersOf({ stream, kind }), operationId);
    for (const error of errors) log.warn({ err: error, stream, operationId, kind }, 'a cleaner failed');
  }

  /** S15: asked again while an answer may come; its claim is kept meanwhile, and is settled once. */
  async #settle(request: SettleRequest): Promise<{ result: SettleResult | undefined; isRepeat: boolean }> {
    const { link } = this.#parts;
    let tries = 0;
    const ask = async (): Promise<SettleResult | undefined> => {
      tries += 1;
      const [result] = (await link.call('settle', (store) => store.settle([request]))).results;
      if (result?.outcome === 'failed') throw result.error;
      return result;
    };
    const result = await askAgain(link, SETTLE_MS, ask);
    return { result, isRepeat: tries > 1 };
  }
}
