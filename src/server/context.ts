// What every part of the server works with: one object, made by serve.ts, handed to createApp and from there to routes.
// Nothing here knows a socket. The caller of a request is put beside it by the access middleware, never taken from a body.
import type { Context } from 'hono';
import type { Clock } from '../domain/clock.js';
import type { LeaseError } from '../domain/errors.js';
import type { Holdfast } from '../holdfast.js';
import type { Logger } from '../observe/logger.js';
import type { Store } from '../stores/store.js';
import type { TokenAccess } from './access/index.js';
import type { Waits } from './door/index.js';
import type { Observing } from '../services/observing.js';
import type { EventStream } from './event-stream.js';
import type { LeaseDesk } from './lease-desk.js';
import type { StreamRecovery } from './stream-recovery.js';

export type Role = 'read' | 'write' | 'admin';

/** Who asks, and what it may do (W3). */
export interface Caller {
  /** None where no token was ever made: everybody on this machine is admin then (W4). */
  readonly tokenId: string | undefined;
  readonly name: string;
  readonly role: Role;
  /** Whole segments that bound lists, events, history and the details of refusals. */
  readonly prefix: string | undefined;
  readonly owner: string | undefined;
}

export interface Access {
  /** From the Authorization header alone. */
  identify(authorization: string | undefined): Caller | LeaseError;
}

/** W5: a bound on everything a client can make the server keep. */
export interface ServerLimits {
  readonly bodyBytes: number;
  readonly headerBytes: number;
  readonly depth: number;
  /** Requests that may wait at once: in all, and for one token, which leaves room for the others. */
  readonly waits: number;
  readonly waitsPerToken: number;
  readonly connections: number;
  /** A connection that has something to take and takes nothing of it for so long is cut. */
  readonly unreadMs: number;
  /** Requests a second that one token (or address) may make, and how many at once after a rest. */
  readonly ratePerSecond: number;
  readonly rateBurst: number;
  /** Event streams at once: in all, and for one token. */
  readonly eventClients: number;
  readonly eventClientsPerToken: number;
  /** Streams of hints of one token; there are as many in all as requests may wait. */
  readonly hintStreamsPerToken: number;
}

export const DEFAULT_LIMITS: ServerLimits = {
  bodyBytes: 1024 * 1024,
  headerBytes: 16 * 1024,
  depth: 48,
  waits: 5_000,
  waitsPerToken: 2_500,
  connections: 10_000,
  unreadMs: 30_000,
  ratePerSecond: 10_000,
  rateBurst: 20_000,
  eventClients: 1_000,
  eventClientsPerToken: 100,
  hintStreamsPerToken: 1_000,
};

export interface ServerContext {
  /** The store of the server's namespace; `within` reaches the others. */
  readonly store: Store;
  readonly leases: Holdfast;
  /** Leases for clients that come by HTTP. */
  readonly desk: LeaseDesk;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly access: TokenAccess;
  readonly limits: ServerLimits;
  /** Requests that stay: waiting acquires and event streams. */
  readonly waits: Waits;
  readonly events: EventStream;
  readonly recovery: StreamRecovery;
  /** Metrics, alerts, figures of the last hour. */
  readonly observing: Pick<Observing, 'text' | 'contentType' | 'alerts' | 'figures'>;
  readonly version: string;
  /** No new waits are taken, and what waits is answered 503. */
  isDraining(): boolean;
  /** Aborts when draining begins: what waits or streams ends with it. */
  readonly draining: AbortSignal;
}

/** What Hono carries beside a request. */
export interface ServerEnv {
  Variables: {
    caller: Caller;
    /** The JSON body as the door read it: in bounds, valid UTF-8, no key twice. Undefined when there was none. */
    body: unknown;
  };
}
export type ServerRequest = Context<ServerEnv>;
