// Conformance, part two again: random programs in which a hundred and more wait in line for one name, most of them plainly, some
// not, with other lines beside. Stores take short ways through such lines; each answer must be the model's. A run is a function
// of its seed, which stands in the title; SEED=n repeats it.
import { LeaseError } from '../../domain/errors.js';
import { makeId } from '../../domain/ids.js';
import type { Part } from '../../domain/part.js';
import type { AcquireRequest } from '../../domain/requests.js';
import type { AcquireResult, Answers, EndResult, Reply } from '../../stores/store.js';
import { FakeClock } from '../fake-clock.js';
import type { Opened, Runner, StoreHarness } from './harness.js';
import { node, shared, subtree } from './parts.js';
import type { Call } from './programs/call.js';
import { ProgramRun } from './programs/run-program.js';
import { chooseSeed } from './seed.js';

const STEPS = 1_500;
const MOST_ITEMS = 40;

/** What a program is made of. */
interface Mix {
  readonly what: string;
  /** Of the requests, so many are unusual, and so many may be claimed for (Q1). */
  readonly oddOnes: number;
  readonly handOver: number;
  readonly names: readonly string[];
  /** Of a hundred steps so many ask and let go; the rest cancels, renews, passes time, sweeps and revokes. */
  readonly asking: number;
  readonly lettingGo: number;
  /** Of those who ask, so many have waited longest. */
  readonly nextAsks: number;
}

const LONG = {
  handOver: 0.5,
  names: ['hot', 'hot', 'hot', 'area/hot', 'cold'],
  asking: 62,
  lettingGo: 22,
  nextAsks: 0,
};
const MIXES: readonly Mix[] = [
  { ...LONG, what: '30 % of the requests unusual', oddOnes: 0.3 },
  { ...LONG, what: '2 % of the requests unusual', oddOnes: 0.02 },
  { what: 'turn by turn', oddOnes: 0, handOver: 0.9, names: ['hot', 'cold'], asking: 46, lettingGo: 38, nextAsks: 0.4 },
];

export function longLinePrograms(harness: StoreHarness, runner: Runner, seed = chooseSeed()): void {
  runner.describe(`${harness.name}: random programs with long lines`, () => {
    for (const mix of MIXES) {
      const title = `${STEPS} steps, ${mix.what}, are answered as by the model (SEED=${seed})`;
      runner.test(title, async () => {
        const opened = await harness.open();
        try {
          await new LongLine(opened, await ProgramRun.begin(opened), seed, mix).play();
        } finally {
          await opened.close();
        }
      });
    }
  });
}

class LongLine {
  readonly #opened: Opened;
  readonly #run: ProgramRun;
  readonly #random: () => number;
  readonly #mix: Mix;
  /** Every request that joined and has not been seen to end, in order of asking. */
  #asked: AcquireRequest[] = [];
  readonly #held = new Map<string, number>();
  /** Whose it is: what it is remembered by, and who hears what becomes of it. */
  readonly #client = new Map<string, number>();
  #now = 0;

  constructor(opened: Opened, run: ProgramRun, seed: number, mix: Mix) {
    this.#opened = opened;
    this.#run = run;
    this.#random = new FakeClock({ seed }).random;
    this.#mix = mix;
  }

  async play(): Promise<void> {
    this.#opened.store.subscribe({ wake: () => undefined, handedOver: () => undefined });
    for (let i = 0; i < STEPS; i += 1) await this.#step();
    await this.#run.finish();
  }

  #step(): Promise<unknown> {
    const { asking, lettingGo } = this.#mix;
    const dice = this.#random() * 100;
    if (dice < asking) return this.#acquire();
    if (dice < asking + lettingGo) return this.#end(this.#pick([...this.#held.keys()]), 'released');
    if (dice < 86) return this.#end(this.#pick(this.#asked)?.id, 'cancelled');
    if (dice < 90) return this.#renew(this.#pick([...this.#held.keys()]));
    if (dice < 96) return this.#opened.passTime(Math.floor(this.#random() * 1_500));
    if (dice < 96.5) return this.#opened.passTime(6_000 + Math.floor(this.#random() * 5_000));
    if (dice < 99.8) return this.#call({ op: 'sweep', asked: { limit: 1_000 } });
    return this.#revoke();
  }

  async #acquire(): Promise<void> {
    const { now } = await this.#opened.store.time();
    this.#now = now;
    const asked = this.#random() < 0.1 ? this.#stretch() : this.#few();
    if (asked.length === 0) return;
    const client = this.#anyClient();
    for (const { id } of asked) if (!this.#client.has(id)) this.#client.set(id, client);
    const answer = (await this.#call({ op: 'acquire', asked }, client)) as Answers<AcquireResult>;
    for (const [i, result] of answer.results.entries()) {
      if (result.outcome === 'granted') this.#held.set(result.lease.id, result.lease.epoch);
      if (result.outcome === 'ended') this.#forget(asked[i]?.id);
    }
  }

  /** As a process does that refreshes its tickets: every one, every second or every third, from somewhere on. */
  #stretch(): AcquireRequest[] {
    const from = Math.floor(this.#random() * this.#asked.length);
    const by = 1 + Math.floor(this.#random() * 3);
    return this.#asked.slice(from, from + MOST_ITEMS * by).filter((_, i) => i % by === 0);
  }

  #few(): AcquireRequest[] {
    const count = this.#random() < 0.3 ? 1 + Math.floor(this.#random() * 6) : 1;
    return Array.from({ length: count }, () => this.#next() ?? this.#anybody() ?? this.#newcomer());
  }

  #next(): AcquireRequest | undefined {
    return this.#random() < this.#mix.nextAsks ? this.#asked.find(({ id }) => !this.#held.has(id)) : undefined;
  }
  #anybody(): AcquireRequest | undefined {
    return this.#random() < 0.5 ? this.#pick(this.#asked) : undefined;
  }

  #newcomer(): AcquireRequest {
    const name = this.#pick(this.#mix.names) ?? 'hot';
    const odd = this.#random() < this.#mix.oddOnes ? Math.floor(this.#random() * 6) : -1;
    const unusual: readonly (readonly Part[])[] = [[shared(name)], [node('a'), node(name)], [subtree('area')]];
    const request: AcquireRequest = {
      id: makeId(this.#now, this.#opened.randomText()),
      bornAt: this.#now,
      owner: `owner-${Math.floor(this.#random() * 3)}`,
      parts: unusual[odd] ?? [node(name)],
      ttlMs: 5_000 + Math.floor(this.#random() * 20) * 1_000,
      priority: odd === 3 ? 1 : 0,
      join: this.#random() < 0.8,
      holding: [],
      reclaim: false,
      maxRenewals: -1,
      minHoldMs: odd === 4 ? 2_000 : 0,
      lockDelayMs: odd === 5 ? 2_000 : 0,
      remote: false,
      callerWall: this.#opened.wall(),
      handOver: this.#random() < this.#mix.handOver,
    };
    if (request.join) this.#asked.push(request);
    return request;
  }

  async #end(id: string | undefined, why: 'released' | 'cancelled'): Promise<void> {
    if (id === undefined) return;
    const epoch = why === 'released' ? this.#held.get(id) : undefined;
    this.#forget(id);
    const asked = [{ id, epoch, requestId: this.#opened.randomText(), why }];
    const client = this.#random() < 0.2 ? this.#anyClient() : this.#client.get(id);
    const answer = (await this.#call({ op: 'end', asked }, client)) as Answers<EndResult>;
    for (const result of answer.results) {
      const handedTo = result.outcome === 'released' ? result.handedTo : undefined;
      if (!handedTo) continue;
      this.#held.set(handedTo.id, handedTo.epoch);
      await this.#opened.letHintsArrive?.();
    }
  }

  async #renew(id: string | undefined): Promise<void> {
    const epoch = this.#held.get(id ?? '');
    if (id === undefined || epoch === undefined) return;
    const request = { id, epoch, requestId: this.#opened.randomText(), callerWall: this.#opened.wall() };
    await this.#call({ op: 'renew', asked: [request] });
  }

  async #revoke(): Promise<void> {
    const { epoch: upToEpoch } = await this.#opened.store.time();
    const target = { resource: this.#pick(this.#mix.names) ?? 'hot' };
    await this.#call({ op: 'time', asked: null });
    await this.#call({ op: 'revoke', asked: { target, reason: 'enough', actor: 'test', keepOutMs: 0, upToEpoch } });
  }

  #anyClient(): number {
    return Math.floor(this.#random() * 2);
  }

  async #call(call: Call, client = this.#anyClient()): Promise<Reply> {
    const answer = await this.#run.call(client, call);
    if (answer instanceof LeaseError) throw answer;
    return answer;
  }

  #forget(id: string | undefined): void {
    this.#asked = this.#asked.filter((one) => one.id !== id);
    this.#held.delete(id ?? '');
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#random() * from.length)];
  }
}
