// A server on a port (W1, W5): listens first, then opens its store, so that it can say that it lives and is not ready.
//
//   listening, starting --the store answers--> ready --stop()--> draining --answered, or out of time--> closed
//        └─ the store is away: asked again until it comes; a store that can never be served ends the start
//
// Draining: nothing new is accepted, what waits is answered 503, what is under way is finished, then everything is closed in
// the opposite order of its opening. Nothing that matters is lost with a server: leases are in the store.
import type { Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { getRequestListener } from '@hono/node-server';
import type { Clock } from '../domain/clock.js';
import { parseDuration, type Duration } from '../domain/duration.js';
import { invalid, LeaseError } from '../domain/errors.js';
import { checkLogger, silentLogger, type Logger } from '../observe/logger.js';
import { pause } from '../services/service.js';
import { openStore, schemeOf, withoutSecrets } from '../stores/open-store.js';
import { systemClock } from '../system-clock.js';
import { createApp, createStartingApp, type App } from './app.js';
import { assemble, type Assembled } from './assemble.js';
import { DEFAULT_LIMITS, type ServerLimits } from './context.js';
import { boundedListener, guardServer, isLoopbackHost, SECURITY_HEADERS, serverOptions } from './door/index.js';
import { problemResponse } from './problem.js';
import { makeServer, type TlsFiles } from './tls.js';

export interface ServeOptions {
  /** sqlite:/path, postgres://…, redis://…; memory: only as a toy. */
  readonly store: string;
  readonly host?: string;
  /** 0: any that is free. */
  readonly port?: number;
  readonly namespace?: string;
  readonly tls?: TlsFiles;
  /** A store in memory forgets everything with the process: say that this is wanted. */
  readonly toy?: boolean;
  /** How long what is under way may take when the server is stopped. */
  readonly drain?: Duration;
  readonly limits?: Partial<ServerLimits>;
  /** Signs what is sent to `alert_webhook_url`. */
  readonly webhookSecret?: string;
  readonly logger?: unknown;
  readonly clock?: Clock;
  readonly version?: string;
}

const HOST = '127.0.0.1';
export const DEFAULT_PORT = 7_420;
const DRAIN_MS = 10_000;
const LONGEST_DRAIN_MS = 600_000;
/** A request that was sent on a connection which seemed idle is still answered, and the answer says that the connection ends:
 *  whoever is busy with this server learns of its end from an answer, not from a reset. */
const GOODBYE_MS = 250;
const FIRST_RETRY_MS = 250;
const LONGEST_RETRY_MS = 5_000;

/** Resolves when it listens; `ready` when its store has answered. */
export async function serve(options: ServeOptions): Promise<RunningServer> {
  const given = checked(options);
  const server = await RunningServer.listen(given);
  server.open();
  return server;
}

type Given = ReturnType<typeof checked>;

function checked(options: ServeOptions) {
  const { host = HOST, port = DEFAULT_PORT, namespace = 'default', toy = false, version = '0', tls } = options;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) throw invalid(`a port is from 0 to 65535, got ${port}`);
  const logger: Logger = options.logger === undefined ? silentLogger : checkLogger(options.logger);
  const bounds = { name: 'drain', minMs: 0, maxMs: LONGEST_DRAIN_MS };
  const drainMs = options.drain === undefined ? DRAIN_MS : parseDuration(options.drain, bounds);
  return {
    ...{ host, port, namespace, version, tls, logger, drainMs, webhookSecret: options.webhookSecret },
    url: servedUrl(options.store, toy),
    clock: options.clock ?? systemClock(),
    limits: { ...DEFAULT_LIMITS, ...options.limits },
  };
}

/** W5: what a server has answered survives a power cut, and what cannot survive the process is served only when asked for. */
function servedUrl(url: string, toy: boolean): string {
  const scheme = schemeOf(url);
  if (scheme === 'memory' && !toy)
    throw invalid('memory: forgets every lease when the server ends: serve sqlite:/path, or say --toy to try it out');
  if (/^https?$/.test(scheme))
    throw invalid('a server needs a store of its own, not another server: name sqlite:/path');
  if (scheme !== 'sqlite') return url;
  const [path = '', query = ''] = url.split(/\?(.*)/s);
  const chosen = new URLSearchParams(query);
  chosen.set('synchronous', 'full');
  return `${path}?${chosen.toString()}`;
}

export class RunningServer {
  readonly #given: Given;
  readonly #http: Server;
  readonly #draining = new AbortController();
  readonly #underWay = new Set<ServerResponse>();
  readonly #closed: Promise<void>;
  #app: App;
  #assembled: Assembled | undefined;
  #ready: Promise<void> = Promise.resolve();
  #stopped: Promise<void> | undefined;

  private constructor(given: Given) {
    this.#given = given;
    this.#app = createStartingApp(given.logger, () => this.isDraining);
    const listener = getRequestListener((request, env) => this.#app.fetch(request, env), {
      hostname: given.host,
      errorHandler: (error) => this.#badRequest(error),
    });
    const underWay = this.#underWay;
    function isOver(this: ServerResponse): void {
      underWay.delete(this);
    }
    this.#http = makeServer(given.tls, serverOptions(given.limits), (incoming, outgoing) => {
      underWay.add(outgoing);
      outgoing.on('close', isOver);
      if (this.isDraining) outgoing.shouldKeepAlive = false;
      bounded(incoming, outgoing);
    });
    const bounded = boundedListener((incoming, outgoing) => {
      listener(incoming, outgoing).catch((error: unknown) => {
        given.logger.error({ err: error }, 'an answer met a bug');
        outgoing.destroy();
      });
    });
    guardServer(this.#http, given.limits);
    this.#closed = new Promise((resolve) => {
      this.#http.once('close', resolve);
    });
  }

  static listen(given: Given): Promise<RunningServer> {
    const { host, port } = given;
    const server = new RunningServer(given);
    return new Promise((resolve, reject) => {
      const refused = (error: NodeJS.ErrnoException): void => reject(cannotListen(error, host, port));
      server.#http.once('error', refused);
      server.#http.listen({ host, port }, () => {
        server.#http.off('error', refused);
        resolve(server);
      });
    });
  }

  get port(): number {
    return (this.#http.address() as AddressInfo | null)?.port ?? 0;
  }
  get url(): string {
    const { host, tls } = this.#given;
    return `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${this.port}`;
  }
  get isDraining(): boolean {
    return this.#draining.signal.aborted;
  }
  /** Rejects when the store can never be served; the server is closed then. */
  get ready(): Promise<void> {
    return this.#ready;
  }

  /** Called once, by `serve`. */
  open(): void {
    this.#ready = this.#open();
    const failed = (error: unknown): void => {
      this.#given.logger.error({ err: error }, 'the server could not be closed in order');
    };
    this.#ready.catch(() => this.stop()).catch(failed);
  }

  /** Drains and closes. A second call answers the first one's promise. */
  stop(): Promise<void> {
    return (this.#stopped ??= this.#stop());
  }

  async #open(): Promise<void> {
    const { url, clock, namespace, logger, limits, version, webhookSecret } = this.#given;
    const { signal: draining } = this.#draining;
    for (let pauseMs = FIRST_RETRY_MS; !draining.aborted; pauseMs = Math.min(2 * pauseMs, LONGEST_RETRY_MS)) {
      try {
        const store = await openStore(url, { clock, namespace, migrate: 'auto' });
        this.#assembled = await assemble({ store, clock, logger, limits, version, webhookSecret, draining });
        if (!draining.aborted) this.#begin(this.#assembled);
        return;
      } catch (error) {
        if (!(error instanceof LeaseError) || !error.retryable) throw error;
        logger.warn({ err: error, retryInMs: pauseMs }, `the store ${withoutSecrets(url)} is away: asking again`);
        await pause(clock, pauseMs, draining);
      }
    }
  }

  #begin({ context }: Assembled): void {
    this.#app = createApp(context);
    const { host, logger } = this.#given;
    const { store, access } = context;
    logger.info({ url: this.url, store: store.kind, namespace: store.namespace }, 'ready');
    if (access.hasTokens) return;
    const who = isLoopbackHost(host) ? 'everybody on this machine is admin' : 'only this machine is answered, as admin';
    logger.warn({ host }, `no token was made: ${who}, by the name localhost. Make one: holdfast token create`);
  }

  async #stop(): Promise<void> {
    const { drainMs, clock, logger } = this.#given;
    logger.info({ underWay: this.#underWay.size }, 'draining');
    for (const outgoing of this.#underWay) if (!outgoing.headersSent) outgoing.shouldKeepAlive = false;
    this.#draining.abort();
    this.#assembled?.context.desk.drain();
    if (await this.#hasConnections()) await pause(clock, Math.min(drainMs, GOODBYE_MS), new AbortController().signal);
    this.#http.close();
    const timer = clock.after(drainMs, () => this.#http.closeAllConnections(), true);
    await this.#closed;
    timer.cancel();
    await this.#ready.catch(() => undefined);
    await this.#assembled?.close();
    logger.info({}, 'closed');
  }

  #hasConnections(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#http.getConnections((_, count) => resolve(count > 0));
    });
  }

  #badRequest(error: unknown): Response {
    if (!(error instanceof Error) || error.name !== 'RequestError')
      this.#given.logger.error({ err: error }, 'a request met a bug');
    const response = problemResponse(invalid('the address or the Host of this request makes no sense'));
    for (const [name, value] of Object.entries(SECURITY_HEADERS)) response.headers.set(name, value);
    return response;
  }
}

function cannotListen(cause: NodeJS.ErrnoException, host: string, port: number): LeaseError {
  const why: Readonly<Record<string, string>> = {
    EADDRINUSE: 'another program has it: stop that one, or choose another with --port',
    EACCES: 'that port is not for this user: choose one above 1023 with --port',
    EADDRNOTAVAIL: 'this machine has no such address: choose another with --host',
    ENOTFOUND: 'this machine has no such address: choose another with --host',
  };
  const text = why[cause.code ?? ''] ?? cause.message;
  return new LeaseError('INVALID_ARGUMENT', `cannot listen on ${host}:${port}: ${text}`, { cause });
}
