// Runs one program against a store with three connections and against the model, answer by answer: the model is run at
// the `now` each reply carries. Throws a `Disagreement` at the first difference, with the way there in readable lines.
import { LeaseError } from '../../../domain/errors.js';
import { findCycles, youngest, type WaitGraph } from '../../../domain/wait-graph.js';
import { Model } from '../../../stores/memory/model.js';
import type { Reply, Store } from '../../../stores/store.js';
import type { Opened } from '../harness.js';
import { askModel, askStore, type Call, type Spot } from './call.js';
import { Comparison } from './compare.js';
import { Known, nth } from './known.js';
import { answerText, callText, wholeText } from './readable.js';
import { CLIENTS, type PassItem, type Step, type StepOf } from './steps.js';
import { toCall, toFilter } from './to-call.js';

export class Disagreement extends Error {
  override readonly name = 'Disagreement';
}

/** Told of every call and its answer: for counting what programs reach, and for the record of the history. */
export type Watcher = (call: Call, answer: Reply | LeaseError, client: number) => void;

const PASS_MS = { '0': 0, little: 3, '3s': 3_000, ticket: 10_000, id: 60_000, keep: 120_000 } as const;
const WALL_STEP_MS = 3_600_000;
const EVERYTHING = 1_000;

export class ProgramRun {
  readonly #opened: Opened;
  readonly #clients: readonly Store[];
  readonly #model: Model;
  readonly #known: Known;
  readonly #comparison = new Comparison();
  readonly #lines: string[] = [];
  readonly #watch: Watcher;
  readonly #longestPassMs: number;
  readonly #incarnation: string;

  private constructor(
    opened: Opened,
    clients: readonly Store[],
    first: Reply & { epoch: number },
    options: RunOptions,
  ) {
    this.#opened = opened;
    this.#clients = clients;
    this.#watch = options.watch ?? (() => undefined);
    this.#longestPassMs = options.longestPassMs ?? Infinity;
    this.#incarnation = first.incarnation;
    const home = { store: 'model', incarnation: 'model', namespace: opened.store.namespace };
    this.#model = new Model({ ...home, epoch: first.epoch });
    this.#known = new Known(this.#model);
    this.#known.now = first.now;
    this.#known.epochs.push(first.epoch);
  }

  static async begin(opened: Opened, options: RunOptions = {}): Promise<ProgramRun> {
    const others = Array.from({ length: CLIENTS - 1 }, () => opened.another());
    const clients = [opened.store, ...(await Promise.all(others))];
    const run = new ProgramRun(opened, clients, await opened.store.time(), options);
    await run.#call(0, { op: 'time', asked: null });
    return run;
  }

  async step(step: Step): Promise<void> {
    switch (step.op) {
      case 'nothing':
        return;
      case 'pass':
        return this.#pass(step.what);
      case 'failTicket':
        return this.#failTicket(step);
      case 'list':
        return this.#list(step.client, toFilter(step.what));
      default:
        await this.#call(step.client, toCall(step, this.#known, this.#opened.wall()));
    }
  }

  /** A call of the caller's own making. */
  call(client: number, call: Call): Promise<Reply | LeaseError> {
    return this.#call(client, call);
  }

  /** The whole state, seen through another connection: log, table, queue and every id. */
  async finish(): Promise<void> {
    await this.#events(2);
    await this.#list(2, { limit: 3 });
    await this.#call(2, { op: 'waitGraph', asked: null });
    await this.#call(2, { op: 'get', asked: this.#known.ids.map(({ id }) => id) });
    await this.#call(2, { op: 'sweep', asked: { limit: EVERYTHING } });
    await this.#events(1);
  }

  /** S13: a step of the wall clock, where the harness can make one, is no time that passes. */
  #stepWall(off: number): void {
    const ms = (off === 0 ? 1 : off) * WALL_STEP_MS;
    this.#lines.push(`the wall clock steps by ${ms} ms`);
    this.#opened.stepWall?.(ms);
  }

  async #pass({ how, pick, off }: PassItem): Promise<void> {
    if (how === 'wall') {
      this.#stepWall(off);
      return;
    }
    const ends = [...this.#known.live(), ...this.#known.waiting()].flatMap((one) => this.#known.leaseOf(one) ?? []);
    const end = nth(ends, pick)?.expiresAt ?? this.#known.now;
    const wanted = how === 'to an end' ? end - this.#known.now : PASS_MS[how];
    const ms = Math.min(Math.max(0, wanted + (wanted > 10 ? off : 0)), this.#longestPassMs);
    this.#lines.push(`${ms} ms pass`);
    await this.#opened.passTime(ms);
    await this.#call(0, { op: 'time', asked: null }, 'quietly');
  }

  async #failTicket({ client, what }: StepOf<'failTicket'>): Promise<void> {
    const graph = (await this.#call(client, { op: 'waitGraph', asked: null })) as unknown as WaitGraph;
    const cycle = nth(findCycles(graph), what.pick);
    if (what.source === 'found' && cycle) {
      const asked = { id: youngest(cycle).id, cycle: cycle.map(({ id }) => id) };
      await this.#call(client, { op: 'failTicket', asked });
      return;
    }
    const made = [nth(this.#known.waiting(), what.pick), nth(this.#known.ids, what.other)].flatMap(
      (one) => one?.id ?? [],
    );
    if (made[0] === undefined) return;
    await this.#call(client, { op: 'failTicket', asked: { id: made[0], cycle: made } });
  }

  async #list(client: number, asked: { limit: number }): Promise<void> {
    let cursor: Spot | undefined;
    do {
      const call: Call = { op: 'list', asked, cursor };
      const model = { cursor: undefined as string | undefined };
      const answer = (await this.#call(client, call, 'aloud', model)) as Partial<Record<'cursor', string>>;
      cursor =
        answer.cursor === undefined || model.cursor === undefined
          ? undefined
          : { store: answer.cursor, model: model.cursor };
    } while (cursor);
  }

  async #events(client: number): Promise<void> {
    await this.#call(client, { op: 'events', asked: { limit: EVERYTHING } });
  }

  /** One call on both sides. `modelAnswer` is filled in for a caller that needs what the model said. */
  async #call(client: number, call: Call, how = 'aloud', modelAnswer: object = {}): Promise<Reply | LeaseError> {
    const answer = await this.#ask(client, call);
    const failed = answer instanceof LeaseError;
    if (how === 'aloud') this.#lines.push(`client ${client}: ${callText(call)} → ${answerText(answer)}`);
    this.#watch(call, answer, client);
    if (!failed) this.#checkReply(call, answer);
    const now = failed ? this.#known.now : answer.now;
    const model = this.#askModel(call, now, failed ? undefined : answer);
    const difference = failed
      ? this.#comparison.difference(answer, model)
      : (this.#comparison.difference(withoutReply(answer), model) ??
        this.#comparison.settingsVersion(answer.settingsVersion, this.#model.settingsVersion));
    if (difference !== undefined) this.disagree(difference, answer, model);
    Object.assign(modelAnswer, model);
    this.#known.now = now;
    this.#known.learn(call, answer, model);
    return answer;
  }

  async #ask(client: number, call: Call): Promise<Reply | LeaseError> {
    try {
      return await askStore(this.#clients[client] ?? this.#opened.store, call);
    } catch (error) {
      if (error instanceof LeaseError) return error;
      this.#lines.push(`client ${client}: ${callText(call)}`);
      return this.disagree(`the store threw ${String(error)}, which is no LeaseError`, error);
    }
  }

  #askModel(call: Call, now: number, answer: Reply | undefined): object {
    try {
      return askModel(this.#model, this.#comparison.toModel(call), now, this.#opened.wall(), answer);
    } catch (error) {
      if (error instanceof LeaseError) return error;
      throw error;
    }
  }

  /** S13: one clock that never goes back, for all connections; and one life of the data. */
  #checkReply(call: Call, reply: Reply): void {
    if (!Number.isSafeInteger(reply.now) || reply.now < this.#known.now) {
      this.disagree(`${call.op}: now is ${reply.now} after ${this.#known.now}`, reply);
    }
    if (reply.incarnation !== this.#incarnation) {
      this.disagree(`${call.op}: the incarnation changed to ${reply.incarnation}`, reply);
    }
  }

  /** A difference, the way there, and the two answers where one call shows it. */
  disagree(difference: string, ...answers: readonly unknown[]): never {
    const program = this.#lines.map((line, i) => `  ${i + 1}. ${line}`);
    const texts = answers.map((answer, i) => `${i === 0 ? "the store's answer" : "the model's"}: ${wholeText(answer)}`);
    throw new Disagreement([difference, 'the program:', ...program, ...texts].join('\n'));
  }
}

export interface RunOptions {
  readonly watch?: Watcher | undefined;
  readonly longestPassMs?: number | undefined;
}

function withoutReply(reply: Reply): object {
  const { now: _now, incarnation: _incarnation, settingsVersion: _version, ...rest } = reply;
  return rest;
}
