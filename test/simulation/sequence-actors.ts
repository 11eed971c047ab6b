// What processes do with one stream: writers that commit, give up, overrun or leave their numbers behind, readers that follow
// it, and whoever waits. An operation that a crash interrupted is begun again under its id by the process that comes after.
import { LeaseError } from '../../src/domain/errors.js';
import type { SequenceLease, Stream } from '../../src/sequence/index.js';
import { seenOf, type Seen } from '../../src/testing/store-conformance/sequence/history.js';
import type { SimulatedProcess } from './simulated-process.js';
import { STREAM } from './sequence-view.js';
import { Violation } from './world.js';

export interface Operation {
  readonly operationId: string;
}

/** What was answered, by all processes together. */
export class SequenceLedger {
  /** Operations whose commit was answered, and where. */
  readonly stored: { readonly operationId: string; readonly number: number }[] = [];
  /** Operations whose result is in a spool, as their writer was told. */
  readonly spooled = new Set<string>();
  /** What each reader was shown. */
  readonly seen = new Map<string, Seen[]>();
  /** The next operation of each owner: a process that comes after a crash goes on there. */
  readonly next = new Map<string, number>();
  /** Readers end when everything has been read. */
  isOver = false;
}

const TTLS = ['300ms', '1s', '5s'] as const;

export class SequenceActor {
  readonly #process: SimulatedProcess;
  readonly #ledger: SequenceLedger;
  readonly #stream: Stream<Operation>;

  constructor(process: SimulatedProcess, ledger: SequenceLedger, spool?: string) {
    this.#process = process;
    this.#ledger = ledger;
    this.#stream = process.leases.sequence<Operation>(STREAM, spool === undefined ? {} : { spool });
    if (process.world.random.chance(0.6))
      this.#stream.recovery.rebuild('k', async (_partial, { operationId }) => ({ operationId }));
  }

  async write(operations: number): Promise<void> {
    const { owner } = this.#process;
    const next = this.#ledger.next;
    for (let i = next.get(owner) ?? 0; i < operations; i = next.get(owner) ?? 0) {
      await this.#may(() => this.#writeOne(`${owner}-${i}`));
      next.set(owner, Math.max(next.get(owner) ?? 0, i + 1));
      await this.#sleep(0, 300);
    }
  }

  async #writeOne(operationId: string): Promise<void> {
    const { random } = this.#process.world;
    const ttl = random.pick(TTLS);
    const lease = await this.#stream.lease({ operationId, kind: 'k', ttl });
    const fate = random.next();
    if (fate < 0.3) await lease.finished({ operationId });
    else if (fate < 0.4) await lease.partial({ so: 'far' });
    if (random.chance(0.2)) {
      this.#tell(operationId, 'is left behind');
      return;
    }
    await this.#sleep(0, random.chance(0.15) ? 1_500 : 100);
    const { number } = random.chance(0.15) ? await this.#giveUp(lease) : await this.#commit(lease, operationId);
    this.#tell(operationId, `is committed at ${number}`);
    this.#ledger.stored.push({ operationId, number });
  }

  /** And thinks better of it: the gap is filled, or, where somebody was shown it, its operation gets a new number. */
  async #giveUp(lease: SequenceLease<Operation>): Promise<{ number: number }> {
    const { operationId, number } = lease;
    await lease.release('given up');
    await this.#sleep(0, 200);
    return this.#stream.gaps.fill(number, operationId, { operationId });
  }

  #commit(lease: SequenceLease<Operation>, operationId: string): Promise<{ number: number }> {
    const ordered = this.#process.world.random.chance(0.2);
    return lease.commit({ operationId }, ordered ? { ordered } : {});
  }

  /** How far its reader has come, the processes before it that read under the same name included. */
  get read(): number {
    return this.#seen(this.#reader).length;
  }
  get #reader(): string {
    return `reader of ${this.#process.owner}`;
  }

  /** Until everything has been read. */
  async follow(): Promise<void> {
    const name = this.#reader;
    while (!this.#ledger.isOver && !this.#process.isGone && !this.#process.isEnding) {
      await this.#may(() => this.#followOnce(name));
      await this.#sleep(10, 100);
    }
  }

  async #followOnce(name: string): Promise<void> {
    const { random } = this.#process.world;
    const seen = this.#seen(name);
    const over = new AbortController();
    const look = async (): Promise<void> => {
      while (!this.#ledger.isOver) await this.#sleep(500, 500);
      over.abort();
    };
    look().catch((error: unknown) => this.#process.world.fail(error));
    let last: number | undefined;
    for await (const item of this.#stream.reader(name).follow({ signal: over.signal })) {
      if (last !== undefined && item.number !== last + 1)
        throw new Violation(`N5: ${name} sees ${item.number} after ${last}`);
      last = item.number;
      const shown = seenOf(item);
      const before = seen[item.number - 1];
      if (before && JSON.stringify(before) !== JSON.stringify(shown))
        throw new Violation(`N4: ${name} saw ${JSON.stringify(before)} and now ${JSON.stringify(shown)}`);
      if (item.number > seen.length + 1) throw new Violation(`N5: ${name} misses ${seen.length + 1}`);
      seen[item.number - 1] = shown;
      if (random.chance(0.3)) await item.done();
    }
  }

  #seen(name: string): Seen[] {
    const known = this.#ledger.seen.get(name) ?? [];
    this.#ledger.seen.set(name, known);
    return known;
  }

  async waitFor(number: number): Promise<void> {
    await this.#stream.waitFor(number);
  }

  /** Whatever the store or the clock refuses is a LeaseError; anything else is a finding. */
  async #may(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof LeaseError)) throw error;
      if (error.details['spooled'] === true) this.#ledger.spooled.add(String(error.details['operationId']));
      this.#process.world.tell(() => `${this.#process.name} is told ${error.code}: ${error.message}`);
    }
  }

  #tell(operationId: string, what: string): void {
    this.#process.world.tell(() => `${this.#process.name}: ${operationId} ${what}`);
  }
  #sleep(low: number, high: number): Promise<void> {
    return this.#process.sleep(this.#process.world.random.between(low, high));
  }
}
