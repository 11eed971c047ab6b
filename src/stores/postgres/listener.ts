// Hints over LISTEN (Q3), on one connection of its own for all channels, opened when the first somebody listens:
//
//   off ──listen──▶ connecting ──LISTEN, and a probe was heard──▶ hearing ──last one gone──▶ off
//                     ▲   └─ refused, cut, or deaf ─▶ waiting ◀── cut, or silent for a heartbeat ─┘
//                     └────────── backoff ───────────────┘
//
// The probe goes out over another connection and must come in over this one: a pooler in transaction mode takes LISTEN and
// never delivers (S19). Each listener hears `down` once when hearing ends or cannot begin, and `up` when it begins; what was
// said meanwhile is lost, so it asks again. Nothing here throws into the void (S12), and none of it keeps a process alive.
import type { Clock, TimerHandle } from '../../domain/clock.js';
import type { LeaseError } from '../../domain/errors.js';
import type { LinkListener } from './link.js';
import { ListenConnection } from './listen-connection.js';
import type { Client } from './pool-driver.js';

const HEARTBEAT_MS = 5_000;
/** For each of: connecting, LISTEN, the probe, a heartbeat. With HEARTBEAT_MS a half-open socket is found within 10 s. */
const PATIENCE_MS = 5_000;
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 10_000;
/** After a refusal, or where nothing is heard: settings change, but seldom. */
const REFUSED_BACKOFF_MS = 30_000;

export interface ListenerOptions {
  readonly clock: Clock;
  /** A connection that was not opened yet. */
  readonly newClient: () => Client;
  /** Notifies over another connection. */
  readonly notify: (channel: string, payload: string) => Promise<unknown>;
  readonly translate: (error: unknown) => LeaseError;
}

interface Subscriber {
  readonly channel: string;
  readonly listener: LinkListener;
  /** What it was told last. */
  told: 'nothing' | 'up' | 'down';
}

export class Listener {
  readonly #options: ListenerOptions;
  readonly #subscribers = new Set<Subscriber>();
  #connection: ListenConnection | undefined;
  #isHearing = false;
  #timer: TimerHandle | undefined;
  #failures = 0;
  #lastError: LeaseError | undefined;
  #isClosed = false;

  constructor(options: ListenerOptions) {
    this.#options = options;
  }

  /** One line for `facts`. */
  get state(): string {
    if (this.#subscribers.size === 0) return 'nobody listens';
    if (this.#isHearing) return 'listening';
    return this.#lastError ? `polling: ${this.#lastError.message}` : 'connecting';
  }

  listen(channel: string, listener: LinkListener): () => void {
    const subscriber: Subscriber = { channel, listener, told: 'nothing' };
    this.#subscribers.add(subscriber);
    if (this.#connection === undefined) {
      if (this.#timer === undefined) this.#connect();
      else if (this.#lastError) this.#tellDown(this.#lastError);
    } else if (this.#isHearing) {
      this.#join(this.#connection, subscriber);
    } // else it is among those that are joined when the connection is there
    return () => this.#leave(subscriber);
  }

  close(): void {
    this.#isClosed = true;
    this.#subscribers.clear();
    this.#stop();
  }

  #leave(subscriber: Subscriber): void {
    if (!this.#subscribers.delete(subscriber)) return;
    if (this.#subscribers.size === 0) {
      this.#stop();
    } else if (this.#isHearing && !this.#channels().has(subscriber.channel)) {
      const connection = this.#connection;
      connection?.unlisten(subscriber.channel).catch((error: unknown) => this.#fail(connection, error));
    }
  }

  #channels(): Set<string> {
    return new Set([...this.#subscribers].map(({ channel }) => channel));
  }

  #connect(): void {
    const { clock, newClient, translate } = this.#options;
    let connection: ListenConnection;
    try {
      connection = new ListenConnection(newClient(), clock, PATIENCE_MS);
    } catch (error) {
      this.#retry(translate(error));
      return;
    }
    this.#connection = connection;
    connection.onMessage = (channel, payload) => this.#hear(channel, payload);
    connection.onGone = (error) => this.#fail(connection, error);
    this.#begin(connection).catch((error: unknown) => this.#fail(connection, error));
  }

  async #begin(connection: ListenConnection): Promise<void> {
    await connection.open();
    const joined = this.#channels();
    for (const channel of joined) await connection.listen(channel);
    await connection.probe(`holdfast_probe_${this.#options.clock.randomText()}`, this.#options.notify);
    if (this.#connection !== connection) return;
    this.#isHearing = true;
    this.#failures = 0;
    this.#lastError = undefined;
    for (const subscriber of [...this.#subscribers]) {
      if (joined.has(subscriber.channel)) this.#tellUp(subscriber);
      else this.#join(connection, subscriber);
    }
    this.#beatLater(connection);
  }

  /** One more channel on a connection that hears. */
  #join(connection: ListenConnection, subscriber: Subscriber): void {
    connection.listen(subscriber.channel).then(
      () => {
        if (this.#connection === connection) this.#tellUp(subscriber);
      },
      (error: unknown) => this.#fail(connection, error),
    );
  }

  #beatLater(connection: ListenConnection): void {
    this.#timer = this.#options.clock.after(HEARTBEAT_MS, () => {
      connection.beat().then(
        () => {
          if (this.#connection === connection) this.#beatLater(connection);
        },
        (error: unknown) => this.#fail(connection, error),
      );
    });
  }

  #fail(connection: ListenConnection | undefined, error: unknown): void {
    if (connection === undefined || this.#connection !== connection) return; // its end was noticed already
    this.#stop();
    this.#retry(this.#options.translate(error));
  }

  #retry(error: LeaseError): void {
    if (this.#isClosed || this.#subscribers.size === 0) return;
    this.#lastError = error;
    this.#tellDown(error);
    const { clock } = this.#options;
    const longest = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** this.#failures);
    const backoffMs = error.retryable ? longest * (0.5 + clock.random() / 2) : REFUSED_BACKOFF_MS;
    this.#failures = Math.min(this.#failures + 1, 16);
    this.#timer = clock.after(backoffMs, () => {
      this.#timer = undefined;
      this.#connect();
    });
  }

  #stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#isHearing = false;
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.close();
  }

  #hear(channel: string, payload: string): void {
    for (const subscriber of [...this.#subscribers]) {
      if (subscriber.channel === channel) guarded(() => subscriber.listener.message(payload));
    }
  }

  #tellUp(subscriber: Subscriber): void {
    if (!this.#subscribers.has(subscriber)) return;
    subscriber.told = 'up';
    guarded(() => subscriber.listener.up());
  }

  #tellDown(error: LeaseError): void {
    for (const subscriber of [...this.#subscribers]) {
      if (subscriber.told === 'down') continue;
      subscriber.told = 'down';
      guarded(() => subscriber.listener.down(error));
    }
  }
}

/** What a listener throws is not this connection's affair. */
function guarded(tell: () => void): void {
  try {
    tell();
  } catch {
    // a hint was lost, which is allowed
  }
}
