// From a url or the caller's client to a link: scripts by their hash, given to a server that has forgotten them, each call
// bounded in time. Only what the server has refused unexecuted is sent a second time; an answer that did not come stays
// unknown (S15), because every operation of the store can be repeated by its id.
import type { Clock } from '../../domain/clock.js';
import { invalid, LeaseError } from '../../domain/errors.js';
import { Awake } from '../protocol/awake.js';
import { answerWithin, pause } from './answer-within.js';
import { answersOf, type ClientAdapter } from './clients/adapter.js';
import { loadDriver } from './clients/own-client.js';
import { recogniseClient } from './clients/recognise.js';
import { closed, GivenConnections, late, OwnConnections, type Connections } from './connections.js';
import { Hearing } from './hearing.js';
import type { LinkListener, RedisLink, Script } from './link.js';
import { checkCluster, checkNoAddress, parseRedisUrl, type ReplicaWait } from './redis-url.js';
import { SecondConnection } from './second-connection.js';
import { durabilityOf } from './server-checks.js';
import { replyWord, translateError } from './translate-error.js';

export interface LinkOptions {
  readonly clock: Clock;
  /** The caller's own client or cluster, of `redis` or `ioredis`; it stays the caller's to close. */
  readonly client?: unknown;
}

const REPLY_WITHIN_MS = 5_000;
/** Longer than a script takes a server on the same machine. */
const AWAKE_MS = 0.15;
/** A slot on the move settles in a moment; who waits longer is told. */
const TRY_AGAIN_WITHIN_MS = 3_000;
const FIRST_PAUSE_MS = 10;
const LONGEST_PAUSE_MS = 200;
const NO_REPLICAS: ReplicaWait = { count: 0, timeoutMs: 0 };
/** Pure reads say so on their first line; they wait for no replica. */
const READS_ONLY = /^#!lua[^\n]*no-writes/;

export async function openLink(url: string | undefined, options: LinkOptions): Promise<RedisLink> {
  const { clock, client } = options;
  if (url === undefined && client === undefined) throw invalid('a redis url or a client is needed');
  const address = url === undefined ? undefined : parseRedisUrl(url);
  const { replicas = NO_REPLICAS, awake = true } = address ?? {};
  if (address === undefined || client !== undefined) {
    if (url !== undefined) checkNoAddress(url);
    const adapter = recogniseClient(client);
    const connections = await GivenConnections.open(adapter, clock);
    if (adapter.cluster) checkCluster({ database: 0, replicas });
    return new Link(connections, { clock, replicas, awake, isOurs: false });
  }
  const driver = await loadDriver();
  const connections = new OwnConnections(address, driver, clock);
  const { cluster } = await connections.open();
  const second = cluster ? undefined : new SecondConnection(new OwnConnections(address, driver, clock), clock);
  return new Link(connections, { clock, replicas, awake, isOurs: true }, second);
}

type Send<T = unknown> = (adapter: ClientAdapter, args: readonly string[]) => Promise<T>;

export interface LinkSettings {
  readonly clock: Clock;
  readonly replicas: ReplicaWait;
  readonly awake: boolean;
  readonly isOurs: boolean;
}

export class Link implements RedisLink {
  readonly #connections: Connections;
  readonly #settings: LinkSettings;
  readonly #hearing: Hearing;
  readonly #second: SecondConnection | undefined;
  readonly #awake: Awake | undefined;
  /** Calls over the first connection that have not been answered. */
  #underWay = 0;
  #isClosed = false;

  constructor(connections: Connections, settings: LinkSettings, second?: SecondConnection) {
    this.#connections = connections;
    this.#settings = settings;
    this.#second = second;
    this.#hearing = new Hearing(connections, settings.clock);
    this.#awake = settings.awake ? new Awake(settings.clock, AWAKE_MS) : undefined;
  }

  get waitsForReplicas(): number {
    return this.#settings.replicas.count;
  }

  run(script: Script, keys: readonly string[], values: readonly string[]): Promise<unknown> {
    const command = ['EVALSHA', script.sha, String(keys.length), ...keys, ...values];
    const waits = this.waitsForReplicas > 0 && !READS_ONLY.test(script.source);
    const key = keys[0] ?? '';
    const send: Send = waits
      ? (adapter, args) => this.#confirmed(adapter, args)
      : (adapter, args) => {
          if (script.tellsFirst) answerLast(adapter);
          return adapter.send(key, args);
        };
    return this.#ask(command, send, script.source);
  }

  command(key: string, command: readonly string[]): Promise<unknown> {
    return this.#ask(command, (adapter, args) => adapter.send(key, args));
  }

  commandToAll(command: readonly string[]): Promise<readonly unknown[]> {
    return this.#ask(command, async (adapter, args) => answersOf(await adapter.sendToAll(args)));
  }

  subscribe(channel: string, listener: LinkListener): () => void {
    return this.#hearing.subscribe(channel, listener);
  }

  facts(): Readonly<Record<string, unknown>> {
    const { facts, current, where } = this.#connections;
    const { isOurs } = this.#settings;
    return {
      ...facts,
      at: where,
      client: current?.kind ?? 'none',
      clientIs: isOurs ? 'ours' : "the caller's",
      isConnected: current !== undefined,
      connections: (current ? 1 : 0) + (this.#second?.isOpen ? 1 : 0),
      hears: this.#hearing.isUp,
      waitsForReplicas: this.waitsForReplicas,
      durability: facts === undefined ? 'unknown' : durabilityOf(facts, this.waitsForReplicas),
    };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#hearing.close();
    this.#second?.close();
    this.#connections.close();
  }

  /** One command, again only while the server says that it has not been executed and soon could be: because a slot is on the move, or
   *  because the script is not known there, which is then sent as a whole. */
  async #ask<T>(asked: readonly string[], send: Send<T>, source?: string): Promise<T> {
    const { clock } = this.#settings;
    let args = asked;
    let giveUpAt: number | undefined;
    for (let pauseMs = FIRST_PAUSE_MS; ;) {
      if (this.#isClosed) throw closed();
      const connections = this.#choose(args);
      const adapter = connections.current ?? (await connections.open());
      const isFirst = connections === this.#connections;
      let isLate = false;
      if (isFirst) this.#underWay += 1;
      this.#awake?.left();
      try {
        return await answerWithin(clock, REPLY_WITHIN_MS, send(adapter, args), () => {
          isLate = true;
          return late(this.#connections.where);
        });
      } catch (error) {
        if (this.#isClosed) throw closed();
        if (isLate || isBroken(error)) connections.discard(adapter);
        const explained = translateError(error, this.#connections.where);
        const { reply } = explained.details;
        giveUpAt ??= clock.monotonic() + TRY_AGAIN_WITHIN_MS;
        if (reply === 'NOSCRIPT' && source !== undefined && args === asked) {
          args = ['EVAL', source, ...asked.slice(2)];
        } else if (reply === 'TRYAGAIN' && clock.monotonic() + pauseMs <= giveUpAt) {
          await pause(clock, pauseMs);
          pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
        } else {
          throw explained;
        }
      } finally {
        this.#awake?.answered();
        if (isFirst) this.#underWay -= 1;
      }
    }
  }

  /** The second for a short call beside another. It does not outlive the first: both lead to the same server. */
  #choose(args: readonly string[]): Connections {
    if (!this.#connections.current) this.#second?.letGo();
    else if (this.#underWay > 0) return this.#second?.for(args) ?? this.#connections;
    return this.#connections;
  }

  /** WAIT right behind the write, over the same connection: it counts the replicas that have it. */
  async #confirmed(adapter: ClientAdapter, args: readonly string[]): Promise<unknown> {
    const { count, timeoutMs } = this.#settings.replicas;
    const [reply, reached] = await adapter.sendBoth(args, ['WAIT', String(count), String(timeoutMs)]);
    if (Number(reached) >= count) return reply;
    const message = `only ${Number(reached)} of ${count} replicas had the write within ${timeoutMs} ms: look at the replicas; it may still count`;
    throw new LeaseError('STORE_UNAVAILABLE', message, { details: { replicas: Number(reached), wanted: count } });
  }
}

/** What the next command of this turn tells others leaves the server before its answer does: of the connections it has something for, the
 *  server writes to the last one first, and through this question that is not the one of who asks (docs/decisions/0030). What is said
 *  to it does not matter. */
function answerLast(adapter: ClientAdapter): void {
  if (adapter.writesTogether) adapter.send('', ['PING']).catch(() => undefined);
}

const LEADS_ASTRAY: ReadonlySet<string> = new Set(['READONLY', 'MASTERDOWN', 'UNBLOCKED', 'MOVED', 'ASK']);

/** A connection that failed, or that leads to what is no primary any more; a refusal over a good one is neither. */
function isBroken(error: unknown): boolean {
  const word = replyWord(error);
  return LEADS_ASTRAY.has(word) || (word === '' && !(error instanceof LeaseError));
}
