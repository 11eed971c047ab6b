// What the link needs of a client library, in the smallest shape that redis and ioredis, one server and a cluster, all fit.
// Errors pass through as the library throws them; replies are made alike: text, numbers, null and arrays, whatever the
// library or its settings would make of them.
import { Buffer } from 'node:buffer';

/** A connection of its own that hears channels. It never comes back by itself: who opened it opens the next. */
export interface HearingConnection {
  hear(channel: string): Promise<void>;
  forget(channel: string): Promise<void>;
  /** Answered by a server that is there; a half-open socket never does. */
  ping(): Promise<unknown>;
  close(): void;
}

export interface HearingEvents {
  message(channel: string, payload: string): void;
  lost(error: unknown): void;
}

export type Outcome = PromiseSettledResult<unknown>;

export interface ClientAdapter {
  /** For `info`: which library, and whether a cluster. */
  readonly kind: string;
  readonly cluster: boolean;
  /** What is sent in one turn of the loop leaves in one write. */
  readonly writesTogether: boolean;
  /** `key` is one of its keys: on a cluster they lead to the node, whichever of the two the library looks at. A command without
   *  keys is answered by any node. */
  send(key: string, args: readonly string[]): Promise<unknown>;
  /** Two commands, one after the other over the same connection and in one write. Not for a cluster. */
  sendBoth(first: readonly string[], second: readonly string[]): Promise<readonly [unknown, unknown]>;
  /** The same command for every primary, and what became of each. */
  sendToAll(args: readonly string[]): Promise<readonly Outcome[]>;
  /** Connects; resolves when it can hear. Abandoned before that, it leaves no socket behind and does not begin another. */
  openHearing(events: HearingEvents, abandoned: AbortSignal): Promise<HearingConnection>;
  /** Called at once when a connection is gone and commands would fail until it is back. */
  onLost(listener: (error: unknown) => void): void;
  /** Ends what is ours: our own client with its sockets; of the caller's only our listeners. */
  dispose(): void;
}

export function plainReply(reply: unknown): unknown {
  if (typeof reply === 'string' || typeof reply === 'number' || reply === null || reply === undefined) {
    return reply ?? null;
  }
  if (Array.isArray(reply)) return reply.every(isPlain) ? reply : reply.map(plainReply);
  if (Buffer.isBuffer(reply)) return reply.toString('utf8');
  if (typeof reply === 'bigint') return Number(reply);
  if (typeof reply === 'boolean') return reply ? 1 : 0;
  if (reply instanceof Map) return [...reply].flat().map(plainReply);
  if (reply instanceof Set) return [...reply].map(plainReply);
  if (reply instanceof Error) throw reply;
  return Object.entries(reply).flatMap(([name, value]) => [name, plainReply(value)]);
}

function isPlain(reply: unknown): boolean {
  return typeof reply === 'string' || typeof reply === 'number' || reply === null;
}

/** What became of each; there is one at least. */
export async function outcomesOf(replies: readonly Promise<unknown>[]): Promise<readonly Outcome[]> {
  if (replies.length === 0) throw new Error('the cluster names no primary');
  return Promise.allSettled(replies);
}

/** The first failure is thrown. */
export function answersOf(outcomes: readonly Outcome[]): readonly unknown[] {
  return outcomes.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
}

/** Older ones of the libraries throw where the connection is gone already: there is nothing left to end then (S12). */
export function endQuietly(client: { destroy(): void }): void {
  try {
    client.destroy();
  } catch {
    // it was closed
  }
}

interface Telling {
  on(event: 'error', listener: (error: unknown) => void): unknown;
  off(event: 'error', listener: (error: unknown) => void): unknown;
}

/** A cluster that could not be reached has what was wrong with the last node it tried; that its connection was closed says nothing. */
export function causeOf(error: unknown): unknown {
  const { lastNodeError } = (error ?? {}) as { lastNodeError?: Error };
  return lastNodeError === undefined || lastNodeError.message === 'Connection is closed.' ? error : lastNodeError;
}

/** Connects; libraries tell the cause by an event and reject with something vaguer, so the told one is thrown. */
export async function connectTelling(client: Telling & { connect(): Promise<unknown> }): Promise<void> {
  let told: unknown;
  const hear = (error: unknown): void => {
    told = causeOf(error);
  };
  client.on('error', hear);
  try {
    await client.connect();
  } catch (error) {
    throw told ?? error;
  } finally {
    client.off('error', hear);
  }
}

/** Connects, or ends what it began: a client that waits for a server which says nothing would keep its socket. */
export async function connectOrEnd(
  connect: () => Promise<unknown>,
  end: () => void,
  abandoned: AbortSignal,
): Promise<void> {
  abandoned.addEventListener('abort', end);
  try {
    abandoned.throwIfAborted();
    await connect();
    abandoned.throwIfAborted();
  } catch (error) {
    end();
    throw error;
  } finally {
    abandoned.removeEventListener('abort', end);
  }
}
