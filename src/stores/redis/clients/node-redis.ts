// The `redis` package, one server. Commands are sent raw with the type mapping of each call, so that a caller's own mapping,
// RESP version and transforms do not reach our replies; nothing here waits in the library's queue longer than the link allows.
import {
  connectOrEnd,
  endQuietly,
  outcomesOf,
  plainReply,
  type ClientAdapter,
  type HearingConnection,
  type HearingEvents,
  type Outcome,
} from './adapter.js';

/** The part of a client that is used, in 5 and 6 alike. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  readonly isReady: boolean;
  readonly isPubSubActive: boolean;
  readonly options?: NodeRedisOptions | undefined;
  connect(): Promise<unknown>;
  sendCommand(args: readonly string[], options?: object): Promise<unknown>;
  subscribe(channel: string, listener: (payload: string, channel: string) => void): Promise<void>;
  unsubscribe(channel: string): Promise<void>;
  duplicate(overrides: object): NodeRedisClient;
  destroy(): void;
  unref(): void;
  on(event: string, listener: (value: unknown) => void): unknown;
  off(event: string, listener: (value: unknown) => void): unknown;
}
export interface NodeRedisOptions {
  readonly RESP?: number;
  readonly keyPrefix?: unknown;
  readonly socket?: object;
}

/** Undefined overrides the timer that the library would start for every command. */
export const RAW_REPLY = { typeMapping: {}, timeout: undefined };
/** Where the caller's client may keep commands for later, the library's timer takes them back: they are not sent after we gave up. */
export const QUEUED_REPLY = { typeMapping: {}, timeout: 5_000 };
/** We open the next connection ourselves, so that each is checked before it is used. */
export const NO_RECONNECT = { reconnectStrategy: false };
const HEARING = { disableOfflineQueue: true, clientSideCache: undefined, emitInvalidate: false, keyPrefix: undefined };

export class NodeRedisAdapter implements ClientAdapter {
  readonly kind = 'redis';
  readonly cluster = false;
  readonly writesTogether = true;
  readonly #client: NodeRedisClient;
  readonly #ours: boolean;
  readonly #lost: ((error: unknown) => void)[] = [];
  readonly #heardError = (error: unknown): void => {
    for (const listener of this.#lost) listener(error);
  };

  constructor(client: NodeRedisClient, ours: boolean) {
    this.#client = client;
    this.#ours = ours;
    client.on('error', this.#heardError); // without a listener this event would end the process (S12)
  }

  send(_key: string, args: readonly string[]): Promise<unknown> {
    return this.#client.sendCommand(args, this.#client.isReady ? RAW_REPLY : QUEUED_REPLY).then(plainReply);
  }

  async sendBoth(first: readonly string[], second: readonly string[]): Promise<readonly [unknown, unknown]> {
    const replies = [this.#client.sendCommand(first, RAW_REPLY), this.#client.sendCommand(second, RAW_REPLY)] as const;
    const [one, two] = await Promise.all(replies);
    return [plainReply(one), plainReply(two)];
  }

  async sendToAll(args: readonly string[]): Promise<readonly Outcome[]> {
    return outcomesOf([this.send('', args)]);
  }

  openHearing(events: HearingEvents, abandoned: AbortSignal): Promise<HearingConnection> {
    return openNodeRedisHearing(this.#client, events, abandoned);
  }

  onLost(listener: (error: unknown) => void): void {
    this.#lost.push(listener);
  }

  dispose(): void {
    this.#lost.length = 0;
    if (this.#ours) {
      endQuietly(this.#client); // its last error still finds the listener
    } else {
      this.#client.off('error', this.#heardError);
    }
  }
}

export async function openNodeRedisHearing(
  parent: NodeRedisClient,
  events: HearingEvents,
  abandoned: AbortSignal,
): Promise<HearingConnection> {
  const socket = { ...parent.options?.socket, ...NO_RECONNECT };
  const client = parent.duplicate({ ...HEARING, socket });
  let isClosed = false;
  client.on('error', (error) => {
    if (!isClosed) events.lost(error);
  });
  const close = (): void => {
    isClosed = true;
    endQuietly(client);
  };
  client.unref(); // hearing keeps no process alive
  await connectOrEnd(() => client.connect(), close, abandoned);
  return {
    hear: (channel) => client.subscribe(channel, (payload, from) => events.message(from, payload)),
    forget: (channel) => client.unsubscribe(channel),
    ping: () => client.sendCommand(['PING'], RAW_REPLY),
    close,
  };
}
