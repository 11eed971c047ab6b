// The `ioredis` package, 5 and 6, one server (found through sentinels too). Commands go through `call`, whose replies are text;
// what the library would send again by itself after a lost connection is harmless, because every operation can be repeated.
import {
  connectOrEnd,
  connectTelling,
  outcomesOf,
  plainReply,
  type ClientAdapter,
  type HearingConnection,
  type HearingEvents,
  type Outcome,
} from './adapter.js';

/** The part of a client that is used, in 5 and 6 alike. */
export interface IoRedisClient {
  readonly status: string;
  readonly mode?: string;
  readonly isCluster: boolean;
  readonly options: IoRedisOptions;
  readonly stream?: { unref?: () => unknown } | undefined;
  connect(): Promise<unknown>;
  call(command: string, ...args: string[]): Promise<unknown>;
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
  ping(): Promise<unknown>;
  duplicate(overrides: object): IoRedisClient;
  disconnect(): void;
  on(event: string, listener: (...values: never[]) => void): unknown;
  off(event: string, listener: (...values: never[]) => void): unknown;
}
export interface IoRedisOptions {
  readonly keyPrefix?: unknown;
  readonly stringNumbers?: boolean;
  readonly protocol?: number;
  readonly redisOptions?: IoRedisOptions;
}

/** One connection, no second life, nothing kept for later: what fails, fails at once. */
export const ONE_LIFE = {
  lazyConnect: true,
  retryStrategy: null,
  reconnectOnError: null,
  enableOfflineQueue: false,
  autoResubscribe: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: 0,
  maxLoadingRetryTime: 0,
};

export class IoRedisAdapter implements ClientAdapter {
  readonly kind = 'ioredis';
  readonly cluster = false;
  readonly writesTogether = false;
  readonly #client: IoRedisClient;
  readonly #ours: boolean;
  readonly #lost: ((error: unknown) => void)[] = [];
  #lastError: unknown;
  /** How many connections of the client have ended. */
  #ended = 0;
  /** An error is told first, the end of the connection afterwards. */
  readonly #heardError = (error: unknown): void => {
    this.#lastError = error;
  };
  readonly #heardClose = (): void => {
    this.#ended += 1;
    for (const listener of this.#lost) listener(this.#lastError ?? new Error('Connection is closed.'));
  };

  constructor(client: IoRedisClient, ours: boolean) {
    this.#client = client;
    this.#ours = ours;
    client.on('error', this.#heardError);
    client.on('close', this.#heardClose);
  }

  send(_key: string, [command = '', ...args]: readonly string[]): Promise<unknown> {
    return this.#client.call(command, ...args).then(plainReply);
  }

  /** The caller's client sends again over its next connection what was not answered, and that may lead to another server, which knows nothing
   *  of the first command: the second then says nothing about it. */
  async sendBoth(first: readonly string[], second: readonly string[]): Promise<readonly [unknown, unknown]> {
    const ended = this.#ended;
    const replies = await Promise.all([this.send('', first), this.send('', second)]);
    if (this.#ended !== ended) throw new Error('lost between two commands that belong together');
    return replies;
  }

  sendToAll(args: readonly string[]): Promise<readonly Outcome[]> {
    return outcomesOf([this.send('', args)]);
  }

  openHearing(events: HearingEvents, abandoned: AbortSignal): Promise<HearingConnection> {
    return openIoRedisHearing(this.#client, events, abandoned);
  }

  onLost(listener: (error: unknown) => void): void {
    this.#lost.push(listener);
  }

  dispose(): void {
    this.#lost.length = 0;
    if (this.#ours) {
      this.#client.disconnect(); // its last error still finds the listener
    } else {
      this.#client.off('error', this.#heardError);
      this.#client.off('close', this.#heardClose);
    }
  }
}

/** Connects a client of ours. */
export async function connectIoRedis(client: IoRedisClient): Promise<void> {
  await connectTelling(client);
  client.stream?.unref?.(); // a connection keeps no process alive
}

export async function openIoRedisHearing(
  parent: IoRedisClient,
  events: HearingEvents,
  abandoned: AbortSignal,
): Promise<HearingConnection> {
  const client = parent.duplicate({ ...ONE_LIFE, keyPrefix: '', readOnly: false });
  let isClosed = false;
  let told: unknown;
  client.on('error', (error: unknown) => {
    told = error;
  });
  client.on('message', (channel: string, payload: string) => events.message(channel, payload));
  const close = (): void => {
    isClosed = true;
    client.disconnect();
  };
  await connectOrEnd(() => connectIoRedis(client), close, abandoned);
  client.on('close', () => {
    if (!isClosed) events.lost(told ?? new Error('Connection is closed.'));
  });
  return {
    async hear(channel) {
      await client.subscribe(channel);
    },
    async forget(channel) {
      await client.unsubscribe(channel);
    },
    ping: () => client.ping(),
    close,
  };
}
