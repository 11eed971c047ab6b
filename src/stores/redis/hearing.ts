// Hints over pub/sub: one connection of its own for all channels, made when the first is asked for. It is kept honest by a PING
// (a half-open socket is found within 15 s), comes back by itself with growing pauses, and subscribes anew each time. There is never a
// second one: what is not there in time, or not wanted any more, is given up with its socket. Whoever listens is told once when it goes
// and once when it is back; between the two nothing is heard (Q3: lost hints cost one refresh).
import type { Clock, TimerHandle } from '../../domain/clock.js';
import type { LeaseError } from '../../domain/errors.js';
import { tellEach } from '../../domain/tell-each.js';
import { answerWithin } from './answer-within.js';
import type { HearingConnection } from './clients/adapter.js';
import { late, type Connections } from './connections.js';
import type { LinkListener } from './link.js';
import { translateError } from './translate-error.js';

const OPEN_WITHIN_MS = 5_000;
const PING_EVERY_MS = 5_000;
const PONG_WITHIN_MS = 5_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5_000;

interface Channel {
  readonly listeners: Set<LinkListener>;
  /** The server has said that it is subscribed, over the present connection. */
  isHeard: boolean;
  /** What keeps it from being heard, as its listeners were told. */
  down: LeaseError | undefined;
}

export class Hearing {
  readonly #connections: Connections;
  readonly #clock: Clock;
  readonly #channels = new Map<string, Channel>();
  /** Left, and the server has not said so yet. Asked for again before that, a client may take it for one it still hears. */
  readonly #leaving = new Map<string, Promise<void>>();
  #connection: HearingConnection | undefined;
  /** The connection that is being made; aborted, it is given up. */
  #opening: AbortController | undefined;
  #isClosed = false;
  #pauseMs = FIRST_PAUSE_MS;
  #timer: TimerHandle | undefined;

  constructor(connections: Connections, clock: Clock) {
    this.#connections = connections;
    this.#clock = clock;
  }

  subscribe(name: string, listener: LinkListener): () => void {
    const channel = this.#channels.get(name) ?? { listeners: new Set(), isHeard: false, down: undefined };
    this.#channels.set(name, channel);
    channel.listeners.add(listener);
    const { down } = channel;
    const tell = (what: () => void): void =>
      this.#clock.soon(() => tellEach(channel.listeners, (one) => one === listener && what()));
    if (channel.isHeard) tell(() => channel.isHeard && listener.up());
    else if (down) tell(() => channel.down === down && listener.down(down));
    else if (this.#connection) this.#hear(this.#connection, name, channel);
    else this.#open();
    return () => this.#leave(name, channel, listener);
  }

  get isUp(): boolean {
    return this.#connection !== undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#channels.clear();
    this.#end();
  }

  #leave(name: string, channel: Channel, listener: LinkListener): void {
    channel.listeners.delete(listener);
    if (channel.listeners.size > 0 || this.#channels.get(name) !== channel) return;
    this.#channels.delete(name);
    if (this.#channels.size === 0) this.#end();
    else if (this.#connection) this.#forget(this.#connection, name);
  }

  /** What it still says finds nobody. */
  #forget(connection: HearingConnection, name: string): void {
    const leaving = connection
      .forget(name)
      .catch(() => undefined)
      .then(() => {
        if (this.#leaving.get(name) === leaving) this.#leaving.delete(name);
      });
    this.#leaving.set(name, leaving);
  }

  /** Without channels nothing is kept open. */
  #end(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#leaving.clear();
    this.#opening?.abort();
    this.#opening = undefined;
    this.#connection?.close();
    this.#connection = undefined;
  }

  #open(): void {
    if (this.#opening || this.#connection || this.#isClosed || this.#channels.size === 0) return;
    const opening = new AbortController();
    this.#opening = opening;
    this.#timer?.cancel();
    const events = {
      message: (name: string, payload: string) => {
        const channel = this.#channels.get(name);
        if (channel) tellEach(channel.listeners, (listener) => listener.message(payload));
      },
      lost: (error: unknown) => connection && this.#lose(connection, error),
    };
    let connection: HearingConnection | undefined;
    const opened = this.#connections.open().then(async (adapter) => {
      connection = await adapter.openHearing(events, opening.signal);
      return connection;
    });
    answerWithin(this.#clock, OPEN_WITHIN_MS, opened, () => late(this.#connections.where)).then(
      (heard) => (this.#opening === opening ? this.#opened(heard) : heard.close()),
      (error: unknown) => {
        opening.abort();
        if (this.#opening !== opening) return;
        this.#opening = undefined;
        this.#failed(error);
      },
    );
  }

  #opened(connection: HearingConnection): void {
    this.#opening = undefined;
    this.#connection = connection;
    for (const [name, channel] of this.#channels) this.#hear(connection, name, channel);
    this.#pingLater(connection);
  }

  #hear(connection: HearingConnection, name: string, channel: Channel): void {
    const isWanted = (): boolean => this.#connection === connection && this.#channels.get(name) === channel;
    const hearing = (this.#leaving.get(name) ?? Promise.resolve()).then(() =>
      isWanted() ? connection.hear(name) : undefined,
    );
    answerWithin(this.#clock, OPEN_WITHIN_MS, hearing, () => late(this.#connections.where)).then(
      () => {
        if (!isWanted() || channel.isHeard) return;
        channel.isHeard = true;
        channel.down = undefined;
        this.#pauseMs = FIRST_PAUSE_MS;
        tellEach(channel.listeners, (listener) => listener.up());
      },
      (error: unknown) => this.#lose(connection, error),
    );
  }

  #pingLater(connection: HearingConnection): void {
    this.#timer = this.#clock.after(PING_EVERY_MS, () => {
      if (this.#connection !== connection) return;
      answerWithin(this.#clock, PONG_WITHIN_MS, connection.ping(), () => late(this.#connections.where)).then(
        () => this.#connection === connection && this.#pingLater(connection),
        (error: unknown) => this.#lose(connection, error),
      );
    });
  }

  #lose(connection: HearingConnection, error: unknown): void {
    if (this.#connection !== connection) return;
    this.#end();
    connection.close();
    this.#failed(error);
  }

  #failed(error: unknown): void {
    if (this.#isClosed || this.#channels.size === 0) return;
    const translated = translateError(error, this.#connections.where);
    for (const channel of this.#channels.values()) tellDown(channel, translated);
    const pauseMs = this.#pauseMs * (0.5 + this.#clock.random() / 2);
    this.#pauseMs = Math.min(this.#pauseMs * 2, LONGEST_PAUSE_MS);
    this.#timer = this.#clock.after(pauseMs, () => this.#open());
  }
}

function tellDown(channel: Channel, error: LeaseError): void {
  channel.isHeard = false;
  if (channel.down) return;
  channel.down = error;
  tellEach(channel.listeners, (listener) => listener.down(error));
}
