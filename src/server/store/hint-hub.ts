// From the store's hints to the clients they are for (Q3): one subscription per namespace and kind, however many clients
// listen, made when the first of them does and left with the last. Wake-ups go to the client whose ticket it is; that
// something changed or was settled goes to everybody who asked to hear it, streams only as far as the caller may see them.
import type { LeaseError } from '../../domain/errors.js';
import type { Store, StoreListener } from '../../stores/store.js';
import { problemOf } from '../problem.js';
import type { Gathered, HintFeed } from './hint-feed.js';
import type { Tickets } from './tickets.js';

const KINDS = ['wake', 'changed', 'settled'] as const;
export type HintKind = (typeof KINDS)[number];

/** What one client wants to hear. */
export interface HintListener {
  readonly client: string;
  readonly feed: HintFeed;
  /** Namespaces by kind. */
  readonly topics: Readonly<Record<HintKind, ReadonlySet<string>>>;
  maySee(stream: string): boolean;
}

interface Topic {
  readonly listeners: Set<HintListener>;
  readonly leave: () => void;
}

export class HintHub {
  readonly #store: Store;
  readonly #tickets: Tickets;
  readonly #topics = new Map<string, Topic>();

  constructor(store: Store, tickets: Tickets) {
    this.#store = store;
    this.#tickets = tickets;
  }

  join(listener: HintListener): void {
    for (const [kind, namespace] of topicsOf(listener)) {
      const key = `${kind} ${namespace}`;
      const topic = this.#topics.get(key) ?? this.#open(kind, namespace);
      this.#topics.set(key, topic);
      topic.listeners.add(listener);
    }
  }

  leave(listener: HintListener): void {
    for (const [kind, namespace] of topicsOf(listener)) {
      const key = `${kind} ${namespace}`;
      const topic = this.#topics.get(key);
      if (!topic?.listeners.delete(listener) || topic.listeners.size > 0) continue;
      this.#topics.delete(key);
      topic.leave();
    }
  }

  isHeard(namespace: string): boolean {
    return KINDS.some((kind) => this.#topics.has(`${kind} ${namespace}`));
  }

  #open(kind: HintKind, namespace: string): Topic {
    const listeners = new Set<HintListener>();
    const tell = (put: (gathered: Gathered) => void): void => {
      for (const { feed } of [...listeners]) feed.add(namespace, put);
    };
    const store = this.#store.within(namespace);
    if (kind === 'settled') {
      const settled = (streams: readonly string[]): void => this.#settled(namespace, listeners, streams);
      return { listeners, leave: store.sequences?.subscribe({ settled }) ?? (() => undefined) };
    }
    const hear: StoreListener =
      kind === 'changed'
        ? { changed: () => tell((gathered) => (gathered.changed = true)) }
        : {
            wake: (ids) => this.#wake(namespace, listeners, ids),
            down: (error: LeaseError) =>
              tell((gathered) => {
                gathered.isUp = false;
                gathered.problem = problemOf(error);
              }),
            up: () =>
              tell((gathered) => {
                gathered.isUp = true;
                gathered.problem = undefined;
              }),
          };
    return { listeners, leave: store.subscribe(hear) };
  }

  #wake(namespace: string, listeners: ReadonlySet<HintListener>, ids: readonly string[]): void {
    const byClient = new Map<string, string[]>();
    for (const id of ids) {
      const client = this.#tickets.clientOf(id);
      if (client === undefined) continue;
      const known = byClient.get(client);
      if (known) known.push(id);
      else byClient.set(client, [id]);
    }
    if (byClient.size === 0) return;
    for (const { client, feed } of [...listeners]) {
      const own = byClient.get(client);
      if (own) feed.add(namespace, ({ wake }) => own.forEach((id) => wake.add(id)));
    }
  }

  #settled(namespace: string, listeners: ReadonlySet<HintListener>, streams: readonly string[]): void {
    for (const listener of [...listeners]) {
      const seen = streams.filter((stream) => listener.maySee(stream));
      if (streams.length > 0 && seen.length === 0) continue;
      listener.feed.add(namespace, (gathered) => {
        if (streams.length === 0) gathered.settledAny = true;
        for (const stream of seen) gathered.settled.add(stream);
      });
    }
  }
}

function topicsOf({ topics }: HintListener): [HintKind, string][] {
  return KINDS.flatMap((kind) => [...topics[kind]].map((namespace): [HintKind, string] => [kind, namespace]));
}
