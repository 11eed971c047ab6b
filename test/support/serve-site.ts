// Servers of this process over one SQLite file in a folder of its own, asked as clients ask them: by fetch, by a raw socket
// that sends exactly what it is told, and as readers of the event stream. Log lines are kept, to be looked through.
import { connect as connectSocket, type Socket } from 'node:net';
import { once } from 'node:events';
import { request } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import { serve, type RunningServer, type ServeOptions } from '../../src/server/serve.js';
import { temporaryFolder, type TemporaryFolder } from './temporary-folder.js';

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}
export interface Ask {
  readonly token?: string | undefined;
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

export class ServeSite {
  #folder: TemporaryFolder | undefined;
  #servers: RunningServer[] = [];
  #sockets: Socket[] = [];
  #readers: EventReader[] = [];
  /** Every log line of every server, as JSON. */
  log: string[] = [];

  constructor() {
    beforeEach(() => {
      this.#folder = temporaryFolder();
      this.log = [];
    });
    afterEach(async () => {
      for (const reader of this.#readers.splice(0)) reader.stop();
      for (const socket of this.#sockets.splice(0)) socket.destroy();
      await Promise.all(this.#servers.splice(0).map((server) => server.stop()));
      this.#folder?.remove();
    });
  }

  get storeUrl(): string {
    return `sqlite:${join(this.#folder?.path ?? '', 'leases.db')}`;
  }

  async serve(options: Partial<ServeOptions> = {}): Promise<RunningServer> {
    const keep = (facts: object, message: string): void =>
      void this.log.push(
        JSON.stringify({ ...facts, message }, (_, value: unknown) => (value instanceof Error ? String(value) : value)),
      );
    const logger = { debug: keep, info: keep, warn: keep, error: keep };
    const server = await serve({ store: this.storeUrl, port: 0, drain: 500, logger, ...options });
    this.#servers.push(server);
    await server.ready;
    return server;
  }

  async ask({ url }: RunningServer, what: string, { token, body, headers = {}, signal }: Ask = {}): Promise<Answer> {
    const [method = 'GET', path = '/'] = what.split(' ');
    const isChange = method !== 'GET';
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...(isChange ? { 'content-type': 'application/json' } : {}),
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: (text === '' ? {} : JSON.parse(text)) as never };
  }

  /** The secret of a new token. */
  async token(server: RunningServer, wanted: object, by?: string): Promise<string> {
    const made = await this.ask(server, 'POST /v1/tokens', { token: by, body: wanted });
    if (made.status !== 201) throw new Error(JSON.stringify(made.body));
    return made.body['secret'] as string;
  }

  async raw({ port }: RunningServer): Promise<RawClient> {
    const socket = connectSocket(port, '127.0.0.1');
    this.#sockets.push(socket);
    await once(socket, 'connect');
    return new RawClient(socket);
  }

  async events(
    { port }: RunningServer,
    path = '/v1/events',
    headers: Record<string, string> = {},
  ): Promise<EventReader> {
    const reader = new EventReader(port, path, headers);
    this.#readers.push(reader);
    // The first thing a stream says is where it begins.
    if ((await reader.opened) === 200) await reader.until(({ lastId }) => lastId !== '');
    return reader;
  }
}

export class RawClient {
  readonly socket: Socket;
  received = '';
  readonly closed: Promise<void>;
  readonly #watchers = new Set<() => void>();
  isClosed = false;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1').on('data', (text: string) => {
      this.received += text;
      this.#look();
    });
    socket.on('error', () => undefined);
    this.closed = once(socket, 'close').then(() => {
      this.isClosed = true;
      this.#look();
    });
  }

  send(text: string | Uint8Array): void {
    this.socket.write(text);
  }

  /** Waits until all that was received has this; rejects when the connection ended without. */
  says(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        const found = pattern.exec(this.received);
        if (!found && !this.isClosed) return;
        this.#watchers.delete(look);
        if (found) resolve(found[0]);
        else reject(new Error(`closed without ${String(pattern)}: ${this.received.slice(0, 2_000)}`));
      };
      this.#watchers.add(look);
      look();
    });
  }

  #look(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }
}

export interface SeenEvent {
  readonly id: string;
  readonly name: string | undefined;
  readonly data: Record<string, unknown>;
  /** When it was read, on this process's clock. */
  readonly at: number;
}

/** A client of server-sent events: blocks, fields, `id` without data, as browsers read them. */
export class EventReader {
  readonly seen: SeenEvent[] = [];
  readonly opened: Promise<number>;
  readonly ended: Promise<void>;
  lastId = '';
  beats = 0;
  status = 0;
  text = '';
  isOver = false;
  #left = '';
  readonly #request: ReturnType<typeof request>;
  readonly #watchers = new Set<() => void>();

  constructor(port: number, path: string, headers: Record<string, string>) {
    this.#request = request({ port, host: '127.0.0.1', path, headers, agent: false });
    this.opened = new Promise((resolve, reject) => {
      this.#request.once('error', reject);
      this.#request.once('response', (response) => {
        this.status = response.statusCode ?? 0;
        resolve(this.status);
        response.setEncoding('utf8').on('data', (text: string) => this.#read(text));
      });
    });
    this.ended = new Promise((resolve) => {
      this.#request.once('close', () => {
        this.isOver = true;
        resolve();
        this.#look();
      });
    });
    this.#request.on('error', () => undefined);
    this.#request.end();
  }

  stop(): void {
    this.#request.destroy();
  }

  /** Waits for a state of things; rejects when the stream ended without it. */
  until(isSo: (reader: this) => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (!isSo(this) && !this.isOver) return;
        this.#watchers.delete(look);
        if (isSo(this)) resolve();
        else reject(new Error(`the stream ended after ${this.seen.length} events: ${this.#left}`));
      };
      this.#watchers.add(look);
      look();
    });
  }

  #read(text: string): void {
    if (this.status !== 200) this.text += text;
    const blocks = (this.#left + text).split('\n\n');
    this.#left = blocks.pop() ?? '';
    const at = performance.now();
    for (const block of blocks) this.#block(block, at);
    this.#look();
  }

  #block(block: string, at: number): void {
    let [data, name, id] = ['', undefined as string | undefined, undefined as string | undefined];
    for (const line of block.split('\n')) {
      if (line.startsWith(':')) this.beats += 1;
      else if (line.startsWith('data: ')) data += line.slice(6);
      else if (line.startsWith('event: ')) name = line.slice(7);
      else if (line.startsWith('id: ')) id = line.slice(4);
    }
    if (id !== undefined) this.lastId = id;
    if (data !== '') this.seen.push({ id: this.lastId, name, data: JSON.parse(data) as Record<string, unknown>, at });
  }

  #look(): void {
    for (const watcher of [...this.#watchers]) watcher();
  }
}
