// Named readers (N5): a durable cursor, and every settled number after it in order. A reader that has seen everything waits
// for more, recovers what blocks it, and ends with its signal or with the connection.
import { checkKeys } from '../domain/check-keys.js';
import { checkOwner } from '../domain/check-request.js';
import type { CursorReply } from '../stores/sequence-store.js';
import { recoverOrWait, type Shared } from './barrier.js';
import type { Followed, StreamReader } from './face.js';
import { cursorRefused, toSettled, trimmedAway } from './outcomes.js';
import { invalid } from '../domain/errors.js';

const PAGE = 100;
const FOLLOW_KEYS: ReadonlySet<string> = new Set(['signal']);
const DONE_KEYS: ReadonlySet<string> = new Set(['tx']);

export class Reader<Op> implements StreamReader<Op> {
  readonly name: string;
  readonly #shared: Shared;
  readonly #stream: string;

  constructor(shared: Shared, stream: string, name: string) {
    this.name = checkOwner(name, 'the name of a reader');
    this.#shared = shared;
    this.#stream = stream;
  }

  async *follow(options: { signal?: AbortSignal } = {}): AsyncGenerator<Followed<Op>, void, undefined> {
    checkKeys(options, FOLLOW_KEYS, 'of follow');
    const { signal } = options;
    const { link, room } = this.#shared;
    const stream = this.#stream;
    const order = { stream, reader: this.name, act: 'open' } as const;
    const opened = await this.#patient(() => link.call('cursor', (store) => store.cursor(order)), signal);
    if (!opened) return;
    if (opened.outcome !== 'opened') throw cursorRefused(stream, this.name, 0, 0, opened);
    const { epoch } = opened;
    const over = signal ? [signal, link.intake] : [link.intake];
    const isOver = (): boolean => over.some(({ aborted }) => aborted);
    const wake = room.listen(stream);
    try {
      for (let from = opened.done + 1; !isOver();) {
        const asked = { stream, from, limit: PAGE, seal: true, watch: true };
        const page = await this.#patient(() => link.call('read', (store) => store.read(asked)), signal);
        if (!page) return;
        if (page.trimmedBefore > from) throw trimmedAway(stream, from, page.trimmedBefore);
        for (const item of page.items) {
          if (isOver()) return;
          from = item.number + 1;
          yield { ...toSettled<Op>(item), done: (options = {}) => this.#done(item.number, epoch, options) };
        }
        if (page.items.length > 0) continue;
        await recoverOrWait(this.#shared, stream, page, { wake, until: Infinity, over });
      }
    } finally {
      wake.leave();
    }
  }

  async forget(): Promise<void> {
    const order = { stream: this.#stream, reader: this.name, act: 'forget' } as const;
    await this.#shared.link.call('cursor', (store) => store.cursor(order));
  }

  /** A store that is away for a while is no end of the stream; the signal is, and then there is no answer. */
  async #patient<T>(ask: () => Promise<T>, signal: AbortSignal | undefined): Promise<T | undefined> {
    try {
      return await this.#shared.link.untilAnswered(Infinity, ask, signal);
    } catch (error) {
      if (signal?.aborted) return undefined;
      throw error;
    }
  }

  async #done(number: number, epoch: number, options: { tx?: unknown }): Promise<void> {
    checkKeys(options, DONE_KEYS, 'of done');
    const { tx } = options;
    const { link } = this.#shared;
    const order = { stream: this.#stream, reader: this.name, act: 'done', number, epoch } as const;
    const reply =
      tx === undefined ? await link.call('cursor', (store) => store.cursor(order)) : await this.#doneIn(tx, order);
    if (reply.outcome !== 'moved') throw cursorRefused(this.#stream, this.name, number, epoch, reply);
  }

  async #doneIn(
    tx: unknown,
    order: Parameters<NonNullable<Shared['link']['store']['doneIn']>>[1],
  ): Promise<CursorReply> {
    const { store } = this.#shared.link;
    if (store.doneIn) return store.doneIn(tx, order);
    throw invalid('tx: this store cannot take part in a transaction of the caller; only PostgreSQL can');
  }
}
