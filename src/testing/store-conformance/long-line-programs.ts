// Conformance, part two again: random programs in which a hundred and more wait in line for one name, most of them plainly, some
// not, with other lines beside. Stores take short ways through such lines; each answer must be the model's. A run is a function
// of its seed, which stands in the title; SEED=n repeats it.
import { LeaseError } from '../../domain/errors.js';
import { makeId } from '../../domain/ids.js';
import type { Part } from '../../domain/part.js';
import type { AcquireRequest } from '../../domain/requests.js';
import type { AcquireResult, Answers, Reply } from '../../stores/store.js';
import { FakeClock } from '../fake-clock.js';
import type { Opened, Runner, StoreHarness } from './harness.js';
import { node, shared, subtree } from './parts.js';
import type { Call } from './programs/call.js';
import { ProgramRun } from './programs/run-program.js';
import { chooseSeed } from './seed.js';

const STEPS = 1_500;
const NAMES = ['hot', 'hot', 'hot', 'area/hot', 'cold'] as const;
const MOST_ITEMS = 40;

export function longLinePrograms(harness: StoreHarness, runner: Runner, seed = chooseSeed()): void {
  runner.describe(`${harness.name}: random programs with long lines`, () => {
    for (const oddOnes of [0.3, 0.02]) {
      const title = `${STEPS} steps, ${oddOnes * 100} % of the requests unusual, are answered as by the model (SEED=${seed})`;
      runner.test(title, async () => {
        const opened = await harness.open();
        try {
          await new LongLine(opened, await ProgramRun.begin(opened), seed, oddOnes).play();
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
  readonly #oddOnes: number;
  /** Every request that joined and has not been seen to end, in order of asking. */
  #asked: AcquireRequest[] = [];
  readonly #held = new Map<string, number>();
  #now = 0;

  constructor(opened: Opened, run: ProgramRun, seed: number, oddOnes: number) {
    this.#opened = opened;
    this.#run = run;
    this.#random = new FakeClock({ seed }).random;
    this.#oddOnes = oddOnes;
  }

  async play(): Promise<void> {
    for (let i = 0; i < STEPS; i += 1) await this.#step();
    await this.#run.finish();
  }

  #step(): Promise<unknown> {
    const dice = this.#random() * 100;
    if (dice < 62) return this.#acquire();
    if (dice < 84) return this.#end(this.#pick([...this.#held.keys()]), 'released');
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
    const answer = (await this.#call({ op: 'acquire', asked })) as Answers<AcquireResult>;
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
    return Array.from({ length: count }, () => (this.#random() < 0.5 && this.#pick(this.#asked)) || this.#newcomer());
  }

  #newcomer(): AcquireRequest {
    const name = this.#pick(NAMES) ?? 'hot';
    const odd = this.#random() < this.#oddOnes ? Math.floor(this.#random() * 6) : -1;
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
    };
    if (request.join) this.#asked.push(request);
    return request;
  }

  async #end(id: string | undefined, why: 'released' | 'cancelled'): Promise<void> {
    if (id === undefined) return;
    const epoch = why === 'released' ? this.#held.get(id) : undefined;
    this.#forget(id);
    await this.#call({ op: 'end', asked: [{ id, epoch, requestId: this.#opened.randomText(), why }] });
  }

  async #renew(id: string | undefined): Promise<void> {
    const epoch = this.#held.get(id ?? '');
    if (id === undefined || epoch === undefined) return;
    const request = { id, epoch, requestId: this.#opened.randomText(), callerWall: this.#opened.wall() };
    await this.#call({ op: 'renew', asked: [request] });
  }

  async #revoke(): Promise<void> {
    const { epoch: upToEpoch } = await this.#opened.store.time();
    const target = { resource: this.#pick(NAMES) ?? 'hot' };
    await this.#call({ op: 'time', asked: null });
    await this.#call({ op: 'revoke', asked: { target, reason: 'enough', actor: 'test', keepOutMs: 0, upToEpoch } });
  }

  async #call(call: Call): Promise<Reply> {
    const answer = await this.#run.call(Math.floor(this.#random() * 2), call);
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
