// The truth about one stream: read from the model after every call that may have changed it, and held against what it was
// before. What has been shown stays; a gap is filled only above the seal; the watermark and the seal never go back; an
// operation is stored once.
import type { SettledNumber } from '../../src/domain/sequence.js';
import type { MemoryStore } from '../../src/stores/memory/index.js';
import type { ReadReply } from '../../src/stores/sequence-store.js';
import { seenOf } from '../../src/testing/store-conformance/sequence/history.js';
import type { Call } from './faulty-network.js';
import type { SimulatedProcess } from './simulated-process.js';
import { StoreView } from './store-view.js';
import { Violation, type World } from './world.js';

export const STREAM = 'orders';
const PAGE = 1_000;

export class SequenceView extends StoreView {
  readonly #world: World;
  readonly #store: MemoryStore;
  #items: readonly SettledNumber[] = [];
  #reads = 0;
  watermark = 0;
  #seal = 0;
  /** The watermark when each process sent the question it waits for an answer to. */
  readonly #sentAt = new Map<unknown, number>();

  constructor(world: World, store: MemoryStore) {
    super(world, store);
    this.#world = world;
    this.#store = store;
  }

  get items(): readonly SettledNumber[] {
    return this.#items;
  }

  override sent(process: SimulatedProcess, call: Call, asked: readonly unknown[]): void {
    super.sent(process, call, asked);
    if (call === 'sequence.read') this.#sentAt.set(asked[0], this.watermark);
  }

  override changed(call: Call, asked: readonly unknown[]): void {
    super.changed(call, asked);
    if (!call.startsWith('sequence.')) return;
    // At once: the model acts before it answers, so nothing comes in between.
    const look = this.#store.sequences.read({ stream: STREAM, from: 1, limit: PAGE, seal: false, watch: false });
    this.#reads += 1;
    const mine = this.#reads;
    look.then((page) => this.#compare(page, mine)).catch((error: unknown) => this.#world.fail(error));
  }

  #compare({ items, watermark, seal }: ReadReply, read: number): void {
    if (read !== this.#reads) return; // a later look has more to say
    if (watermark < this.watermark)
      throw new Violation(`N3: the watermark went from ${this.watermark} to ${watermark}`);
    if (seal < this.#seal) throw new Violation(`N4: the seal went from ${this.#seal} to ${seal}`);
    if (seal > watermark) throw new Violation(`N4: ${seal} is sealed above the watermark ${watermark}`);
    if (items.length !== watermark) throw new Violation(`N3: ${items.length} numbers are shown up to ${watermark}`);
    for (const [i, was] of this.#items.entries()) this.#compareOne(was, items[i]);
    const stored = items.filter(({ state }) => state === 'committed' || state === 'filled');
    const ids = new Set(stored.map(({ operationId }) => operationId));
    if (ids.size !== stored.length) throw new Violation('N1: an operation is stored twice');
    [this.#items, this.watermark, this.#seal] = [items, watermark, seal];
  }

  #compareOne(was: SettledNumber, is: SettledNumber | undefined): void {
    const [before, after] = [was, is].map((one) => one && JSON.stringify(seenOf(one)));
    if (before === after) return;
    const isFill = was.state === 'gap' && is?.state === 'filled' && was.number > this.#seal;
    if (!isFill) throw new Violation(`N4: ${before ?? ''} became ${after ?? 'nothing'} below the seal ${this.#seal}`);
  }

  override answered(
    process: SimulatedProcess,
    call: Call,
    asked: readonly unknown[],
    answer: unknown,
    at: number,
  ): void {
    super.answered(process, call, asked, answer, at);
    if (call !== 'sequence.read') return;
    const page = answer as ReadReply;
    const before = this.#sentAt.get(asked[0]) ?? 0;
    this.#sentAt.delete(asked[0]);
    const last = page.items.at(-1)?.number ?? 0;
    if (last > page.watermark) throw new Violation(`N3: ${last} is shown past the watermark ${page.watermark}`);
    if (page.watermark < before) throw new Violation(`N3: watermark ${page.watermark} is told after it was ${before}`);
  }
}
