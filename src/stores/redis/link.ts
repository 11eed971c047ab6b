// What the Redis store asks of a client, whichever it is (redis, ioredis, one server or a cluster, ours or the caller's):
// run a script, send a command, hear a channel. Errors that leave here are LeaseErrors already.
import type { LeaseError } from '../../domain/errors.js';

export interface Script {
  readonly name: string;
  readonly source: string;
  /** SHA-1 of the source: what EVALSHA asks for. */
  readonly sha: string;
  /** What it publishes is waited for more than its answer. */
  readonly tellsFirst?: boolean;
}

/** Hints, never truth (Q3). */
export interface LinkListener {
  message(payload: string): void;
  /** Nothing will be heard until `up`. */
  down(error: LeaseError): void;
  up(): void;
}

export interface RedisLink {
  /** How many of them have what was written before it is answered. */
  readonly waitsForReplicas: number;
  /** One round trip; a server that has forgotten the script is given it, once, and asked again. All keys share a slot. */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown>;
  /** `key` is one of its keys: on a cluster they lead to the node. A command without keys is answered by any node. */
  command(key: string, args: readonly string[]): Promise<unknown>;
  /** The answers of all primaries; one that does not answer, or refuses, fails the call. */
  commandToAll(args: readonly string[]): Promise<readonly unknown[]>;
  /** Over a connection of its own. */
  subscribe(channel: string, listener: LinkListener): () => void;
  facts(): Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}
