// Requests to one server over connections that are kept (node:http, which was measured four times as fast as fetch on
// Node 20). The number of sockets is bounded. Redirects are not followed, an answer is bounded in size and in time, and a
// request that is late is ended together with its socket, so that a server which is silent keeps none of them.
//
// A kept connection may be closed by the server at the very moment it is used again: such a request is sent once more, on
// another socket, if every call in it may be repeated. Nothing else is ever sent twice here; who asked decides (S15).
//
// A request that waits keeps the process alive; an idle connection does not.
import { readFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { Clock } from '../../domain/clock.js';
import { invalid } from '../../domain/errors.js';
import type { HttpAddress } from './http-url.js';
import {
  closed,
  codeOf,
  errorOf,
  errorOfStatus,
  foreign,
  isProblem,
  late,
  noToken,
  translateError,
} from './translate-error.js';

/** Batches and calls of their own together, with room for what was given up on and is not gone yet. */
const MOST_SOCKETS = 24;
/** 1,000 records with everything they may have are less. */
const MOST_ANSWER_BYTES = 128 * 1024 * 1024;

export interface Answered {
  readonly body: unknown;
  /** The version of the language it is in, as the server says. */
  readonly protocol: string | undefined;
}

export interface Ask {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: string;
  readonly withinMs: number;
  /** Doing it twice is doing it once. */
  readonly isRepeatable: boolean;
}

export interface OpenStream {
  readonly response: http.IncomingMessage;
  readonly close: () => void;
}

export class Transport {
  /** For messages. */
  readonly where: string;
  readonly #clock: Clock;
  readonly #address: HttpAddress;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #agent: http.Agent;
  readonly #streams: http.Agent;
  readonly #request: typeof http.request;
  #isClosed = false;

  constructor(address: HttpAddress, options: { readonly clock: Clock; readonly token?: string | undefined }) {
    const { clock, token } = options;
    this.where = address.shown;
    this.#clock = clock;
    this.#address = address;
    this.#headers = {
      accept: 'application/json',
      'holdfast-client': clock.randomText(),
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
    };
    const tls = address.tlsCa === undefined ? {} : { ca: readCa(address.tlsCa) };
    const kept = { keepAlive: true, maxSockets: MOST_SOCKETS, scheduling: 'lifo' as const };
    this.#agent = address.tls ? new https.Agent({ ...kept, ...tls }) : new http.Agent(kept);
    this.#streams = address.tls ? new https.Agent(tls) : new http.Agent();
    this.#request = address.tls ? https.request : http.request;
  }

  async send(ask: Ask): Promise<Answered> {
    if (this.#isClosed) throw closed();
    const until = this.#clock.monotonic() + ask.withinMs;
    try {
      return await this.#once(ask, ask.withinMs);
    } catch (error) {
      // Closing cuts what is under way: that is no reason to ask again, over a connection nobody would close any more.
      const isAskedAgain = error instanceof StaleConnection && ask.isRepeatable && !this.#isClosed;
      if (!isAskedAgain) throw translateError(causeOf(error), this.where);
    }
    try {
      return await this.#once(ask, Math.max(1, until - this.#clock.monotonic()));
    } catch (error) {
      throw translateError(causeOf(error), this.where);
    }
  }

  /** A response that goes on, as soon as its head is there. */
  stream(path: string, withinMs: number): { readonly opened: Promise<OpenStream>; readonly cancel: () => void } {
    const request = this.#request({
      ...this.#to('GET', path),
      agent: this.#streams,
      headers: { ...this.#headers, accept: 'text/event-stream' },
    });
    const opened = new Promise<OpenStream>((resolve, reject) => {
      const fail = (error: unknown): void => {
        timer.cancel();
        reject(translateError(error, this.where));
      };
      const giveUp = (): void => {
        fail(late(this.where, withinMs));
        request.destroy();
      };
      const timer = this.#clock.after(withinMs, giveUp);
      request.on('socket', (socket) => socket.unref());
      request.on('error', fail);
      request.on('response', (response) => {
        response.on('error', () => undefined); // told by its close
        // A refusal may stop half-way: it is read within the same time.
        if (response.statusCode !== 200) this.#read(response).then(fail, fail);
        else {
          timer.cancel();
          resolve({ response, close: () => request.destroy() });
        }
      });
      request.end();
    });
    return { opened, cancel: () => request.destroy() };
  }

  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
    this.#streams.destroy();
  }

  #to(method: string, path: string): http.RequestOptions {
    const { host, port, path: before } = this.#address;
    return { host, port, method, path: `${before}${path}` };
  }

  /** Where one connection is silent the others may be dead too: the next request makes a new one. */
  #dropIdle(): void {
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy();
  }

  #once(ask: Ask, withinMs: number): Promise<Answered> {
    return new Promise((resolve, reject) => {
      const length = ask.body === undefined ? 0 : Buffer.byteLength(ask.body);
      const type = { 'content-type': 'application/json', 'content-length': length };
      const request = this.#request({
        ...this.#to(ask.method, ask.path),
        agent: this.#agent,
        headers: ask.body === undefined ? this.#headers : { ...this.#headers, ...type },
      });
      const fail = (error: unknown): void => {
        timer.cancel();
        reject(error instanceof Error ? error : new Error(String(error)));
      };
      const giveUp = (): void => {
        fail(late(this.where, withinMs));
        request.destroy();
        this.#dropIdle();
      };
      const timer = this.#clock.after(withinMs, giveUp, true);
      request.on('error', (error) => fail(isStale(request, error) ? new StaleConnection(error) : error));
      request.on('response', (response) => {
        this.#answer(response).then((answered) => {
          timer.cancel();
          resolve(answered);
        }, fail);
      });
      request.end(ask.body);
    });
  }

  async #answer(response: http.IncomingMessage): Promise<Answered> {
    if (response.statusCode !== 200) throw await this.#read(response);
    const text = await textOf(response);
    const protocol = response.headers['holdfast-protocol'];
    try {
      return { body: JSON.parse(text) as unknown, protocol: typeof protocol === 'string' ? protocol : undefined };
    } catch {
      throw foreign(this.where, 'no JSON');
    }
  }

  /** What a server, or something before it, says instead of an answer. */
  async #read(response: http.IncomingMessage): Promise<Error> {
    const { statusCode = 0, headers } = response;
    const text = await textOf(response).catch(() => '');
    // Its own words are about a header: whoever calls from here has an option for it.
    if (statusCode === 401 && this.#headers['authorization'] === undefined) return noToken(this.where);
    const problem = parsed(text);
    return isProblem(problem) ? errorOf(problem) : errorOfStatus(statusCode, this.where, headers.location);
  }
}

/** The server had closed the connection before the request reached it, or so it seems: nothing came back. */
class StaleConnection extends Error {
  constructor(cause: Error) {
    super(cause.message, { cause });
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof StaleConnection ? error.cause : error;
}

function isStale(request: http.ClientRequest, error: Error): boolean {
  const isCut = codeOf(error) === 'ECONNRESET' || codeOf(error) === 'EPIPE';
  return isCut && request.reusedSocket;
}

function textOf(response: http.IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MOST_ANSWER_BYTES)
        response.destroy(new Error(`the answer is larger than ${MOST_ANSWER_BYTES} bytes`));
    });
    response.on('error', reject);
    response.on('end', () => resolve(chunks.length === 1 ? String(chunks[0]) : Buffer.concat(chunks).toString()));
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function readCa(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (cause) {
    throw invalid(`tlsCa=${path} cannot be read: name a PEM file (${codeOf(cause)})`);
  }
}
