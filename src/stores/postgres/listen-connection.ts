// The one connection that listens, without any policy: each step is answered within its patience or fails, the end of the
// connection is told once, and it never keeps the process alive.
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { destroy, type Client } from './pool-driver.js';

export class ListenConnection {
  readonly #client: Client;
  readonly #clock: Clock;
  readonly #patienceMs: number;
  readonly #listening = new Map<string, Promise<unknown>>();
  /** Statements go out one after the other. */
  #last: Promise<unknown> = Promise.resolve();
  #isOver = false;
  onMessage: (channel: string, payload: string) => void = () => undefined;
  onGone: (error: unknown) => void = () => undefined;

  constructor(client: Client, clock: Clock, patienceMs: number) {
    this.#client = client;
    this.#clock = clock;
    this.#patienceMs = patienceMs;
    client.on('error', (error) => this.#gone(error));
    client.on('end', () => this.#gone(new Error('the connection for LISTEN ended')));
    client.on('notification', ({ channel, payload = '' }) => {
      if (this.#probe?.channel === channel) this.#probe.heard(payload);
      else if (!this.#isOver) this.onMessage(channel, payload);
    });
  }
  #probe: { readonly channel: string; readonly heard: (payload: string) => void } | undefined;

  async open(): Promise<void> {
    const opened = this.#client.connect();
    this.#client.connection.stream.on('connect', () => this.#unref());
    await this.#within('connect for LISTEN', opened);
    this.#unref(); // TLS has put another socket in its place
  }

  async listen(channel: string): Promise<void> {
    const asked = this.#listening.get(channel) ?? this.#run(`LISTEN ${quoted(channel)}`);
    this.#listening.set(channel, asked);
    await asked;
  }

  async unlisten(channel: string): Promise<void> {
    this.#listening.delete(channel);
    await this.#run(`UNLISTEN ${quoted(channel)}`);
  }

  /** A question and its answer over this very socket: TCP alone may take a quarter of an hour to find out. */
  async beat(): Promise<void> {
    await this.#run('SELECT 1');
  }

  /** Says something over another connection and waits until it is heard on this one. */
  async probe(channel: string, notify: (channel: string, payload: string) => Promise<unknown>): Promise<void> {
    await this.#run(`LISTEN ${quoted(channel)}`);
    const heard = new Promise<void>((resolve) => {
      this.#probe = { channel, heard: () => resolve() };
    });
    try {
      await notify(channel, 'probe'); // what fails here says nothing about hearing
      await this.#within('hear', heard, deaf);
    } finally {
      this.#probe = undefined;
    }
    await this.#run(`UNLISTEN ${quoted(channel)}`);
  }

  close(): void {
    this.#isOver = true;
    destroy(this.#client);
  }

  #run(text: string): Promise<unknown> {
    const next = this.#last.then(() => this.#within(text.split(' ')[0] ?? '', this.#client.query(text)));
    this.#last = next.catch(() => undefined);
    return next;
  }

  #within<T>(what: string, answer: Promise<T>, silent = silence): Promise<T> {
    return new Promise((resolve, reject) => {
      const timer = this.#clock.after(this.#patienceMs, () => reject(silent(what, this.#patienceMs)));
      answer.finally(() => timer.cancel()).then(resolve, reject);
    });
  }

  #unref(): void {
    (this.#client as unknown as { unref?: () => void }).unref?.();
  }

  #gone(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.onGone(error);
  }
}

function quoted(channel: string): string {
  return `"${channel.replaceAll('"', '""')}"`;
}

function silence(what: string, ms: number): LeaseError {
  const message = `no answer to ${what} on the connection that listens for ${ms} ms: look at the server and the network`;
  return new LeaseError('STORE_UNAVAILABLE', message, { details: { timedOut: true, waitedMs: ms } });
}

function deaf(_what: string, ms: number): LeaseError {
  const message =
    `a notification did not arrive within ${ms} ms: this connection cannot LISTEN, probably for a pooler in transaction mode; ` +
    'name the server itself in listenUrl. Until then waiting polls';
  return new LeaseError('STORE_UNAVAILABLE', message, { details: { deaf: true }, retryable: false });
}
