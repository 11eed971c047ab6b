// Recovery of one stream as its users have it: what to rebuild with, what to clean up with, and the manual queue.
import { checkOperationId } from '../../domain/check-request.js';
import { invalid, LeaseError, shown } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type { Claimed, ManualItem } from '../../domain/sequence.js';
import type { ManualOrder, ManualQuery } from '../../domain/sequence-requests.js';
import type { ManualItemsReply, ManualReply } from '../../stores/sequence-store.js';
import type { OperationsOf, StreamRecovery } from '../face.js';
import type { SequenceLink } from '../sequence-link.js';
import { cleanFiles, cleanLeases } from './cleanup.js';
import type { Recovered, Recoverer } from './recoverer.js';
import type { Cleaner, Registry } from './registry.js';

const MOST_PAGES = 100;

interface Parts {
  readonly link: SequenceLink;
  readonly recoverer: Recoverer;
  readonly registry: Registry;
}

export class RecoveryOf<Op> implements StreamRecovery<Op> {
  readonly manual: StreamRecovery<Op>['manual'];
  readonly #parts: Parts;
  readonly #stream: string;

  constructor(parts: Parts, stream: string) {
    this.#parts = parts;
    this.#stream = stream;
    this.manual = {
      list: () => this.#list(),
      retry: (operationId) => this.#retry(operationId),
      discard: (operationId) => this.#discard(operationId),
    };
  }

  rebuild(kind: string, fn: (partial: unknown, item: Claimed) => Promise<OperationsOf<Op> | undefined>): void {
    this.#parts.registry.rebuild(this.#stream, kind, fn);
  }
  step(kind: string, fn: (item: Claimed) => Promise<OperationsOf<Op> | undefined>): void {
    this.#parts.registry.step(this.#stream, kind, fn);
  }
  cleaner(kind: string, cleaner: Cleaner | 'leases' | { root: string }): void {
    this.#parts.registry.cleaner(this.#stream, kind, this.#cleanerOf(cleaner));
  }
  onCascade(fn: (on: boolean) => void): void {
    this.#parts.registry.onCascade(fn);
  }
  run(): Promise<Recovered> {
    return this.#parts.recoverer.run({ stream: this.#stream, isSweep: false });
  }

  #cleanerOf(cleaner: Cleaner | 'leases' | { root: string }): Cleaner {
    if (cleaner === 'leases') return cleanLeases(this.#parts.link.manager);
    if (typeof cleaner === 'function') return cleaner;
    if (typeof cleaner === 'object' && typeof cleaner.root === 'string' && cleaner.root !== '')
      return cleanFiles(cleaner.root);
    throw invalid(`cleaner takes a function, 'leases' or { root }, got ${shown(cleaner)}`);
  }

  async #list(): Promise<ManualItem[]> {
    return [...(await this.#page()).items];
  }
  async #retry(operationId: string): Promise<{ outcome: 'stored' | 'queued'; number?: number }> {
    const reply = await this.#act(operationId, 'retry');
    if (reply.outcome === 'stored') return { outcome: 'stored', number: reply.first };
    if (reply.outcome === 'queued') return { outcome: 'queued' };
    throw notThere(this.#stream, operationId);
  }
  async #discard(operationId: string): Promise<void> {
    const reply = await this.#act(operationId, 'discard');
    if (reply.outcome !== 'discarded') throw notThere(this.#stream, operationId);
  }
  /** What ends with it is cleaned up after here, where the cleaners are. */
  async #act(operationId: string, act: ManualOrder['act']): Promise<ManualReply> {
    const { link, recoverer, registry } = this.#parts;
    const stream = this.#stream;
    const order = { stream, operationId: checkOperationId(operationId), act, actor: link.owner };
    const item = registry.hasCleaners(stream) ? await this.#find(operationId) : undefined;
    const reply = await link.call('manual', (store) => store.manual(order));
    const isOver = reply.outcome === 'stored' || reply.outcome === 'discarded';
    if (item && isOver) await recoverer.cleanUp(item);
    return reply;
  }
  async #find(operationId: string): Promise<ManualItem | undefined> {
    let after: ManualQuery['after'];
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const { items, more } = await this.#page(after);
      const found = items.find((item) => item.operationId === operationId);
      const last = items.at(-1);
      if (found || !more || !last) return found;
      after = { stream: this.#stream, number: last.number };
    }
    return undefined;
  }
  #page(after?: ManualQuery['after']): Promise<ManualItemsReply> {
    const query = { stream: this.#stream, after, limit: LIMITS.rowsPerStep };
    return this.#parts.link.call('manualItems', (store) => store.manualItems(query));
  }
}

function notThere(stream: string, operationId: string): LeaseError {
  return new LeaseError(
    'NOT_HELD',
    `operation ${operationId} of ${stream} waits for nobody: it is not in the manual queue`,
    {
      details: { stream, operationId },
    },
  );
}
