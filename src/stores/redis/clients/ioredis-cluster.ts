// The `ioredis` package, 5 and 6, a cluster. The library finds the node of a key (it knows where EVALSHA keeps its keys) and
// follows MOVED, ASK and TRYAGAIN, all of which say that nothing was executed.
import { once, type EventEmitter } from 'node:events';
import {
  causeOf,
  connectTelling,
  outcomesOf,
  plainReply,
  type ClientAdapter,
  type HearingConnection,
  type HearingEvents,
  type Outcome,
} from './adapter.js';
import { openIoRedisHearing, type IoRedisClient, type IoRedisOptions } from './ioredis.js';

/** The part of a cluster client that is used, in 5 and 6 alike. */
export interface IoRedisCluster {
  readonly status: string;
  readonly isCluster: boolean;
  readonly options: IoRedisOptions;
  connect(): Promise<unknown>;
  call(command: string, ...args: string[]): Promise<unknown>;
  nodes(role: 'master'): readonly IoRedisClient[];
  disconnect(): void;
  on(event: string, listener: (...values: never[]) => void): unknown;
  off(event: string, listener: (...values: never[]) => void): unknown;
}

type Callable = Pick<IoRedisCluster, 'call'>;

export class IoRedisClusterAdapter implements ClientAdapter {
  readonly kind = 'ioredis';
  readonly cluster = true;
  readonly writesTogether = false;
  readonly #cluster: IoRedisCluster;
  readonly #ours: boolean;
  readonly #lost: ((error: unknown) => void)[] = [];
  #lastError: unknown;
  readonly #disposed = new AbortController();
  /** One wait for all who wait, so that the caller's cluster has one listener of ours. */
  #becoming: Promise<void> | undefined;
  readonly #heardError = (error: unknown): void => {
    this.#lastError = error;
  };
  readonly #heardClose = (): void => {
    for (const listener of this.#lost) listener(this.#lastError ?? new Error('Connection is closed.'));
  };
  readonly #nodeAdded = (node: IoRedisClient): void => {
    node.on('ready', () => void node.stream?.unref?.()); // a connection keeps no process alive
  };

  constructor(cluster: IoRedisCluster, ours: boolean) {
    this.#cluster = cluster;
    this.#ours = ours;
    cluster.on('error', this.#heardError);
    cluster.on('node error', this.#heardError);
    cluster.on('close', this.#heardClose);
    if (ours) cluster.on('+node', this.#nodeAdded);
  }

  async send(_key: string, args: readonly string[]): Promise<unknown> {
    return this.#askOf(this.#cluster, args);
  }

  sendBoth(): Promise<readonly [unknown, unknown]> {
    return Promise.reject(new Error('two commands over one connection are not for a cluster'));
  }

  async sendToAll(args: readonly string[]): Promise<readonly Outcome[]> {
    return outcomesOf((await this.#primaries()).map((node) => this.#askOf(node, args)));
  }

  async openHearing(events: HearingEvents, abandoned: AbortSignal): Promise<HearingConnection> {
    let failure: unknown = new Error('the cluster names no primary');
    for (const node of await this.#primaries()) {
      try {
        return await openIoRedisHearing(node, events, abandoned);
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  onLost(listener: (error: unknown) => void): void {
    this.#lost.push(listener);
  }

  dispose(): void {
    this.#lost.length = 0;
    this.#disposed.abort();
    if (this.#ours) {
      this.#cluster.disconnect();
    } else {
      this.#cluster.off('error', this.#heardError);
      this.#cluster.off('node error', this.#heardError);
      this.#cluster.off('close', this.#heardClose);
    }
  }

  /** Of a node that died its client says that it is closed, and the library with it: the cluster is not, it looks for who takes its place. */
  async #askOf(one: Callable, [command = '', ...args]: readonly string[]): Promise<unknown> {
    try {
      return plainReply(await one.call(command, ...args));
    } catch (error) {
      const isOfNode = this.#cluster.status !== 'end' && /Connection is closed/.test((error as Error).message);
      throw isOfNode ? new Error('a node of the cluster is gone', { cause: error }) : error;
    }
  }

  /** They are known when it is ready, which one that was just made is not, nor one that connects when it is first asked. */
  async #primaries(): Promise<readonly IoRedisClient[]> {
    if (this.#cluster.status !== 'ready') {
      this.#becoming ??= this.#becomeReady().finally(() => {
        this.#becoming = undefined;
      });
      await this.#becoming;
    }
    return this.#cluster.nodes('master');
  }

  async #becomeReady(): Promise<void> {
    const { status } = this.#cluster;
    if (status === 'end') throw new Error('Connection is closed.');
    if (status === 'wait') return connectTelling(this.#cluster);
    try {
      await once(this.#cluster as unknown as EventEmitter, 'ready', { signal: this.#disposed.signal });
    } catch (error) {
      throw causeOf(error);
    }
  }
}
