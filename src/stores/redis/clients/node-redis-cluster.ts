// The `redis` package, a cluster. The library finds the node of a key and follows MOVED and ASK; both say that nothing was
// executed. Hearing needs only one node: a cluster carries what is published to all of them.
import {
  endQuietly,
  outcomesOf,
  plainReply,
  type ClientAdapter,
  type HearingConnection,
  type HearingEvents,
  type Outcome,
} from './adapter.js';
import { openNodeRedisHearing, QUEUED_REPLY, RAW_REPLY, type NodeRedisClient } from './node-redis.js';

interface NodeRedisClusterNode {
  readonly client?: NodeRedisClient | undefined;
}

/** The part of a cluster client that is used, in 5 and 6 alike. */
export interface NodeRedisCluster {
  readonly isOpen: boolean;
  readonly masters: readonly NodeRedisClusterNode[];
  readonly _keyPrefix?: unknown;
  connect(): Promise<unknown>;
  sendCommand(
    firstKey: string | undefined,
    isReadonly: boolean | undefined,
    args: readonly string[],
    options?: object,
  ): Promise<unknown>;
  nodeClient(node: NodeRedisClusterNode): Promise<NodeRedisClient> | NodeRedisClient;
  destroy(): void;
  on(event: string, listener: (value: unknown) => void): unknown;
  off(event: string, listener: (value: unknown) => void): unknown;
}

export class NodeRedisClusterAdapter implements ClientAdapter {
  readonly kind = 'redis';
  readonly cluster = true;
  readonly writesTogether = false;
  readonly #cluster: NodeRedisCluster;
  readonly #ours: boolean;
  readonly #lost: ((error: unknown) => void)[] = [];
  readonly #heardError = (error: unknown): void => {
    for (const listener of this.#lost) listener(error);
  };
  /** Its nodes connect when they are first asked; none of them keeps the process alive. */
  readonly #nodeReady = (): void => {
    for (const node of this.#cluster.masters) node.client?.unref();
  };

  constructor(cluster: NodeRedisCluster, ours: boolean) {
    this.#cluster = cluster;
    this.#ours = ours;
    cluster.on('error', this.#heardError); // without a listener this event would end the process (S12)
    if (ours) {
      cluster.on('node-error', this.#heardError);
      cluster.on('node-ready', this.#nodeReady);
    }
  }

  async send(key: string, args: readonly string[]): Promise<unknown> {
    return plainReply(await this.#cluster.sendCommand(key, false, args, this.#ours ? RAW_REPLY : QUEUED_REPLY));
  }

  sendBoth(): Promise<readonly [unknown, unknown]> {
    return Promise.reject(new Error('two commands over one connection are not for a cluster'));
  }

  sendToAll(args: readonly string[]): Promise<readonly Outcome[]> {
    const ask = async (node: NodeRedisClusterNode): Promise<unknown> => {
      const client = await this.#cluster.nodeClient(node);
      return plainReply(await client.sendCommand(args, RAW_REPLY));
    };
    return outcomesOf(this.#cluster.masters.map(ask));
  }

  async openHearing(events: HearingEvents, abandoned: AbortSignal): Promise<HearingConnection> {
    let failure: unknown = new Error('the cluster names no primary');
    for (const node of this.#cluster.masters) {
      try {
        return await openNodeRedisHearing(await this.#cluster.nodeClient(node), events, abandoned);
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
    if (this.#ours) {
      endQuietly(this.#cluster);
    } else {
      this.#cluster.off('error', this.#heardError);
    }
  }
}
