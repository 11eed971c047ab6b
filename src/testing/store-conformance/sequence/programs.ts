// Sequences, part two: random programs put to a store with three connections and to the model, answer by answer. The model
// is run at the `now` each reply carries; epochs compare by order. The first difference is shrunk and told.
import fc from 'fast-check';
import { LeaseError } from '../../../domain/errors.js';
import { Model } from '../../../stores/memory/model.js';
import { modelSequences } from '../../../stores/memory/model-sequences.js';
import type { CursorReply, ClaimedReply, LeaseNumbersResult, SequenceStore } from '../../../stores/sequence-store.js';
import type { Answers, Reply, Store } from '../../../stores/store.js';
import type { Opened, Runner, StoreHarness } from '../harness.js';
import { Comparison } from '../programs/compare.js';
import { chooseSeed } from '../seed.js';
import { Met, toSequenceCall, type SequenceCall } from './program-call.js';
import { sequenceProgram, type SequenceProgramStep } from './program-steps.js';

export interface SequenceProgramOptions {
  readonly programs?: number | undefined;
  readonly steps?: number | undefined;
  readonly seed?: number | undefined;
}

/** Told of every call and its answer, for counting what programs reach. */
export type SequenceWatcher = (call: SequenceCall, answer: object) => void;

const PROGRAMS = 300;
const STEPS = 60;
const PASS_MS = [0, 100, 500, 1_000, 5_000, 60_000] as const;
const EVERYTHING = 1_000;

export class SequenceDisagreement extends Error {
  override readonly name = 'SequenceDisagreement';
}

export function sequencePrograms(harness: StoreHarness, runner: Runner, options: SequenceProgramOptions = {}): void {
  const { programs = PROGRAMS, steps = STEPS, seed = chooseSeed() } = options;
  runner.describe(`${harness.name}: random programs about sequences`, () => {
    const title = `N1, N2, N3, N4, N5, V1, V2, V4: ${programs} programs of up to ${steps} steps are answered as by the model (SEED=${seed})`;
    runner.test(title, async () => {
      const found = await findSequenceDisagreement(harness, { programs, steps, seed });
      if (found !== undefined) throw new SequenceDisagreement(found);
    });
  });
}

/** Runs the programs; the first that is answered otherwise than by the model is shrunk and told, or undefined. */
export async function findSequenceDisagreement(
  harness: StoreHarness,
  { programs, steps, seed }: Required<{ [K in keyof SequenceProgramOptions]: number }>,
  watch?: SequenceWatcher,
): Promise<string | undefined> {
  const property = fc.asyncProperty(sequenceProgram(steps), (made) => runProgram(harness, made, watch));
  const result = await fc.check(property, { seed, numRuns: programs });
  if (!result.failed) return undefined;
  if (!(result.errorInstance instanceof SequenceDisagreement)) throw result.errorInstance;
  return `${harness.name} and the model disagree (program ${result.numRuns} of SEED=${seed})\n${result.errorInstance.message}`;
}

async function runProgram(
  harness: StoreHarness,
  made: readonly SequenceProgramStep[],
  watch: SequenceWatcher = () => undefined,
): Promise<void> {
  const opened = await harness.open();
  try {
    const run = await ProgramRun.begin(opened, watch, harness.capabilities?.longestPassMs ?? Infinity);
    for (const step of made) await run.step(step);
    await run.finish();
  } finally {
    await opened.close();
  }
}

class ProgramRun {
  readonly #opened: Opened;
  readonly #stores: readonly Store[];
  readonly #model: Model;
  readonly #modelSequences: SequenceStore;
  readonly #comparison = new Comparison();
  readonly #met = new Met();
  readonly #lines: string[] = [];
  readonly #watch: SequenceWatcher;
  readonly #longestPassMs: number;
  #now: number;

  private constructor(
    opened: Opened,
    stores: readonly Store[],
    first: Reply & { epoch: number },
    watch: SequenceWatcher,
    longestPassMs: number,
  ) {
    this.#opened = opened;
    this.#stores = stores;
    this.#watch = watch;
    this.#longestPassMs = longestPassMs;
    this.#now = first.now;
    const { namespace } = opened.store;
    this.#model = new Model({ store: 'model', incarnation: 'model', namespace, epoch: first.epoch });
    this.#modelSequences = modelSequences(this.#model, () => ({ now: this.#now, wall: opened.wall() }));
  }

  static async begin(opened: Opened, watch: SequenceWatcher, longestPassMs: number): Promise<ProgramRun> {
    const stores = [opened.store, await opened.another(), await opened.another()];
    return new ProgramRun(opened, stores, await opened.store.time(), watch, longestPassMs);
  }

  async step(step: SequenceProgramStep): Promise<void> {
    if (step.op === 'pass') return this.#pass(PASS_MS[step.dice[0] % PASS_MS.length] ?? 0);
    if (step.op === 'events') return this.#events(step.client);
    const call = toSequenceCall(step, this.#met);
    if (call) await this.#call(step.client, call);
  }

  /** Everything that was left behind, seen through another connection. */
  async finish(): Promise<void> {
    await this.#call(2, { method: 'streams', asked: { limit: EVERYTHING } });
    for (const stream of ['orders', 'orders/eu']) {
      await this.#call(2, { method: 'gaps', asked: { stream, after: 0, limit: EVERYTHING } });
      await this.#call(1, { method: 'read', asked: { stream, from: 1, limit: EVERYTHING, seal: false, watch: false } });
    }
    await this.#call(1, { method: 'manualItems', asked: { limit: EVERYTHING } });
    await this.#events(1);
  }

  async #pass(wanted: number): Promise<void> {
    const ms = Math.min(wanted, this.#longestPassMs);
    this.#lines.push(`${ms} ms pass`);
    await this.#opened.passTime(ms);
  }

  async #events(client: number): Promise<void> {
    const answer = await (this.#stores[client] ?? this.#opened.store).events({ limit: EVERYTHING });
    this.#now = answer.now;
    this.#compare('events', answer, this.#model.events({ limit: EVERYTHING }));
  }

  async #call(client: number, call: SequenceCall): Promise<void> {
    const sequences = (this.#stores[client] ?? this.#opened.store).sequences;
    if (!sequences) throw new Error('the store keeps no sequences');
    const answer = await ask(sequences, call);
    const text = JSON.stringify(call.asked);
    this.#lines.push(`client ${client}: ${call.method} ${text} → ${JSON.stringify(shown(answer))}`);
    this.#watch(call, answer);
    if (!(answer instanceof LeaseError)) this.#now = (answer as Reply).now;
    const model = await ask(this.#modelSequences, { ...call, asked: this.#toModel(call.asked) });
    this.#compare(call.method, answer, model);
    this.#learn(call, answer);
  }

  #compare(what: string, answer: object, model: object): void {
    const difference = this.#comparison.difference(withoutReply(answer), withoutReply(model));
    if (difference === undefined) return;
    const program = this.#lines.map((line, i) => `  ${i + 1}. ${line}`);
    throw new SequenceDisagreement([`${what}: ${difference}`, 'the program:', ...program].join('\n'));
  }

  /** The same call with the epochs the model knows. */
  #toModel(asked: unknown): unknown {
    if (Array.isArray(asked)) return asked.map((one) => this.#toModel(one));
    const item = { ...(asked as { epoch?: number; claimEpoch?: number }) };
    if (item.epoch !== undefined) item.epoch = this.#comparison.epochs.toModel(item.epoch);
    if (item.claimEpoch !== undefined) item.claimEpoch = this.#comparison.epochs.toModel(item.claimEpoch);
    return item;
  }

  #learn(call: SequenceCall, answer: object): void {
    if (answer instanceof LeaseError) return;
    if (call.method === 'claim') this.#met.claims.push(...(answer as ClaimedReply).claimed);
    if (call.method === 'cursor') {
      const { stream, reader } = call.asked as { stream: string; reader: string };
      const reply = answer as CursorReply;
      if (reply.outcome === 'opened') this.#met.cursors.push({ stream, reader, epoch: reply.epoch });
    }
    if (call.method !== 'lease') return;
    const [result] = (answer as Answers<LeaseNumbersResult>).results;
    const [{ stream, operationId, count }] = call.asked as [{ stream: string; operationId: string; count: number }];
    if (result?.outcome === 'leased') this.#met.leases.push({ stream, operationId, count, epoch: result.epoch });
  }
}

/** What a method answers, or the LeaseError it fails with; anything else it throws is the store's mistake. */
async function ask(sequences: SequenceStore, { method, asked }: SequenceCall): Promise<object> {
  const call = (sequences[method] as (asked: unknown) => Promise<object>).bind(sequences);
  try {
    return await call(asked);
  } catch (error) {
    if (error instanceof LeaseError) return error;
    throw error;
  }
}

function withoutReply(answer: object): object {
  if (answer instanceof LeaseError) return answer;
  const { now: _now, incarnation: _incarnation, settingsVersion: _version, ...rest } = answer as Reply;
  return rest;
}

function shown(answer: object): object {
  return answer instanceof LeaseError ? { failed: answer.code } : withoutReply(answer);
}
