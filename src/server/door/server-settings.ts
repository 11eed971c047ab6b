// What Node itself must keep (W5): the time a request may take to arrive, headers, connections, and how many requests one
// connection may have under way. What comes slower, larger or more is answered with a problem and the connection closed; no
// client can keep a socket by sending a byte now and then, nor an answer by not taking it.
import type { IncomingMessage, RequestListener, Server, ServerOptions, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { LeaseErrorCode } from '../../domain/errors.js';
import { SECURITY_HEADERS } from './security-headers.js';

const HEADERS_MS = 10_000;
const REQUEST_MS = 20_000;
const KEEP_ALIVE_MS = 65_000;
/** A client whose machine or network died says no goodbye: after so much silence the kernel asks whether it is there, and ends
 *  the connection, with all that waits on it, some ten seconds later. */
const LOOK_FOR_CLIENT_MS = 10_000;
const CHECK_EVERY_MS = 1_000;
const MOST_HEADERS = 100;
/** Requests of one connection at once: one is carried out, those that were sent behind it wait. */
const MOST_PIPELINED = 32;
/** Of those past it so many are told; then the connection goes, with all that waits on it. */
const TURNED_AWAY = 8;

interface NodeLimits {
  readonly headerBytes: number;
  readonly connections: number;
}

/** For `createServer`, of http and https alike. */
export function serverOptions({ headerBytes }: NodeLimits): ServerOptions {
  return {
    maxHeaderSize: headerBytes,
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAlive: true,
    keepAliveInitialDelay: LOOK_FOR_CLIENT_MS,
    connectionsCheckingInterval: CHECK_EVERY_MS,
    insecureHTTPParser: false,
    requireHostHeader: true,
  };
}

/** The answers a connection is owed, in the order of its requests. Only the first is under way: what comes of the others is not
 *  kept here before their client has taken what came of it. */
const owed = new WeakMap<Duplex, Set<ServerResponse>>();

/** After `createServer`, before `listen`. */
export function guardServer(server: Server, { connections }: NodeLimits): void {
  server.maxConnections = connections;
  server.maxHeadersCount = MOST_HEADERS;
  // Set by the door when there is an answer (unreadMs). Node looks after so long whether anything was taken since it looked last, so
  // a cut comes after once to twice the time. An event stream that has nothing to tell has nothing to take.
  server.on('timeout', (socket: Socket) => {
    const isWaiting = (owed.get(socket)?.size ?? 0) > 0 && socket.writableLength === 0;
    if (!isWaiting) socket.destroy();
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    // Amid other answers a refusal would be taken for one of them.
    if (!socket.writable || (owed.get(socket)?.size ?? 0) > 0) socket.destroy();
    else socket.end(refusalText(error.code), () => socket.destroy());
  });
}

/** The listener, for the requests of one connection one after the other, and at most so many of them. */
export function boundedListener(listener: RequestListener): RequestListener {
  const turnedAway = new WeakSet<ServerResponse>();
  return (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const { socket } = incoming;
    const answers = owed.get(socket) ?? answersOf(socket);
    if (answers.size >= MOST_PIPELINED + TURNED_AWAY) {
      socket.destroy();
      return;
    }
    if (answers.size >= MOST_PIPELINED) turnedAway.add(outgoing);
    answers.add(outgoing);
    outgoing.on('close', goOn);
    if (answers.size === 1) carryOut(outgoing);
  };
  function carryOut(outgoing: ServerResponse): void {
    if (turnedAway.has(outgoing)) turnAway(outgoing);
    else listener(outgoing.req, outgoing);
  }
  // One for all: a server has thousands of requests that wait, and each would keep its own.
  function goOn(this: ServerResponse): void {
    const { socket } = this.req;
    const answers = owed.get(socket);
    answers?.delete(this);
    const [next] = answers ?? [];
    if (next && !socket.destroyed) carryOut(next);
  }
}

function turnAway(outgoing: ServerResponse): void {
  const text = problemText(429, 'RATE_LIMITED', `at most ${MOST_PIPELINED} requests of one connection at once`);
  outgoing.writeHead(429, { ...problemHeaders(text), 'retry-after': '1', connection: 'close' });
  outgoing.end(text);
}

/** Node tells only the answer whose turn it is that its client has gone: those behind it are told here, or would wait on. */
function answersOf(socket: Duplex): Set<ServerResponse> {
  const answers = new Set<ServerResponse>();
  owed.set(socket, answers);
  socket.once('close', () => {
    for (const outgoing of [...answers]) if (!outgoing.socket) outgoing.emit('close');
  });
  return answers;
}

function refusalText(code: string | undefined): string {
  const [status, title, text] = refusalOf(code);
  const body = problemText(status, 'INVALID_ARGUMENT', text);
  const headers = Object.entries({ ...problemHeaders(body), connection: 'close' });
  return `HTTP/1.1 ${status} ${title}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

function refusalOf(code: string | undefined): [number, string, string] {
  if (code === 'HPE_HEADER_OVERFLOW') return [431, 'Request Header Fields Too Large', 'the headers are too large'];
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return [408, 'Request Timeout', 'the request did not arrive in time'];
  return [400, 'Bad Request', 'this is not a request of HTTP/1.1'];
}

function problemHeaders(body: string): Record<string, string> {
  const length = String(Buffer.byteLength(body));
  const own = { 'content-type': 'application/problem+json', 'content-length': length, 'cache-control': 'no-store' };
  return { ...SECURITY_HEADERS, ...own };
}

function problemText(status: number, code: LeaseErrorCode, detail: string): string {
  return JSON.stringify({ type: 'about:blank', title: detail, status, code, detail, retryable: status === 429 });
}
