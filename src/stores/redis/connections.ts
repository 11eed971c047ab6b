// Where the link gets its client from. Of our own there is one at a time; it is made when somebody asks, checked before it is
// used, and replaced when its connection is lost, when it stops answering, or when its server has become a replica. The
// caller's client is used as it is and never replaced.
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { answerWithin } from './answer-within.js';
import type { ClientAdapter, Outcome } from './clients/adapter.js';
import type { Connect } from './clients/own-client.js';
import { checkCluster, type RedisAddress } from './redis-url.js';
import { checkServer, factsOf, parseInfo, type ServerFacts } from './server-checks.js';
import { translateError } from './translate-error.js';

const CONNECT_WITHIN_MS = 5_000;
/** Who asks again right after a failure is told the same, so that a dead server is not dialled in a tight loop. */
const REST_AFTER_FAILURE_MS = 100;
/** What a replaced client still has under way may end. */
const RETIRE_WITHIN_MS = 5_000;

export interface Connections {
  /** For messages. */
  readonly where: string;
  readonly facts: ServerFacts | undefined;
  /** The client in use, when there is one: the quick way. */
  readonly current: ClientAdapter | undefined;
  /** The client in use, or a new one. Rejects with a LeaseError. */
  open(): Promise<ClientAdapter>;
  /** This client is not to be used any more, if it is ours. */
  discard(adapter: ClientAdapter): void;
  close(): void;
}

export class OwnConnections implements Connections {
  readonly where: string;
  readonly #clock: Clock;
  readonly #connect: Connect;
  #address: RedisAddress;
  #current: ClientAdapter | undefined;
  #opening: Promise<ClientAdapter> | undefined;
  #failure: { readonly error: LeaseError; readonly at: number } | undefined;
  readonly #retired = new Set<ClientAdapter>();
  #facts: ServerFacts | undefined;
  #isClosed = false;

  constructor(address: RedisAddress, connect: Connect, clock: Clock) {
    this.where = address.shown;
    this.#address = address;
    this.#connect = connect;
    this.#clock = clock;
  }

  get facts(): ServerFacts | undefined {
    return this.#facts;
  }

  get current(): ClientAdapter | undefined {
    return this.#current;
  }

  async open(): Promise<ClientAdapter> {
    if (this.#isClosed) throw closed();
    if (this.#current) return this.#current;
    const failure = this.#failure;
    if (failure && this.#clock.monotonic() - failure.at < REST_AFTER_FAILURE_MS) throw failure.error;
    this.#opening ??= this.#openNew().finally(() => {
      this.#opening = undefined;
    });
    return this.#opening;
  }

  discard(adapter: ClientAdapter): void {
    if (this.#current !== adapter) return;
    this.#current = undefined;
    // What others have asked over it and is not answered yet may still be: their own time limits end them.
    this.#retired.add(adapter);
    this.#clock.after(RETIRE_WITHIN_MS, () => {
      if (this.#retired.delete(adapter)) adapter.dispose();
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#current?.dispose();
    this.#current = undefined;
    for (const adapter of this.#retired) adapter.dispose();
    this.#retired.clear();
  }

  async #openNew(): Promise<ClientAdapter> {
    try {
      let adapter = await this.#openChecked();
      if (this.#facts?.cluster && !adapter.cluster) {
        adapter.dispose();
        checkCluster(this.#address);
        this.#address = { ...this.#address, cluster: true };
        adapter = await this.#openChecked();
      }
      if (this.#isClosed) {
        adapter.dispose();
        throw closed();
      }
      const opened = adapter;
      this.#failure = undefined;
      this.#current = opened;
      opened.onLost(() => this.discard(opened));
      return opened;
    } catch (error) {
      const translated = translateError(error, this.where);
      this.#failure = { error: translated, at: this.#clock.monotonic() };
      throw translated;
    }
  }

  async #openChecked(): Promise<ClientAdapter> {
    let dispose = (): void => undefined;
    const connecting = this.#connect(this.#address, (end) => {
      dispose = end;
    }).then(async (adapter) => {
      this.#facts = await factsOfServer(adapter, this.where);
      return adapter;
    });
    try {
      return await answerWithin(this.#clock, CONNECT_WITHIN_MS, connecting, () => late(this.where, true));
    } catch (error) {
      dispose();
      throw error;
    }
  }
}

export class GivenConnections implements Connections {
  readonly where = 'the client that was handed in';
  readonly facts: ServerFacts;
  readonly current: ClientAdapter;

  private constructor(adapter: ClientAdapter, facts: ServerFacts) {
    this.current = adapter;
    this.facts = facts;
  }

  static async open(adapter: ClientAdapter, clock: Clock): Promise<GivenConnections> {
    const where = 'the server of the client that was handed in';
    try {
      const asking = factsOfServer(adapter, where);
      const facts = await answerWithin(clock, CONNECT_WITHIN_MS, asking, () => late(where, true));
      if (facts.cluster && !adapter.cluster) {
        const message =
          'the client that was handed in is for one server, its server is a node of a cluster: hand in a cluster client';
        throw new LeaseError('STORE_INCOMPATIBLE', message);
      }
      return new GivenConnections(adapter, facts);
    } catch (error) {
      adapter.dispose();
      throw translateError(error, 'the client that was handed in');
    }
  }

  open(): Promise<ClientAdapter> {
    return Promise.resolve(this.current);
  }

  /** It is the caller's: its library brings it back. */
  discard(): void {}

  close(): void {
    this.current.dispose();
  }
}

/** Whether every primary that answers may be used; what the first one says of itself. */
async function factsOfServer(adapter: ClientAdapter, where: string): Promise<ServerFacts> {
  const infos = await adapter.sendToAll(['INFO']);
  // Managed services forbid CONFIG; INFO then has to do.
  const configs = await adapter.sendToAll(['CONFIG', 'GET', 'appendfsync', 'maxmemory-policy']);
  const all = infos.flatMap((info, i) =>
    info.status === 'rejected' ? [] : factsOf(parseInfo(String(info.value)), pairsOf(valueOf(configs[i]))),
  );
  for (const facts of all) checkServer(facts, where);
  const [first] = all;
  if (first === undefined) throw (infos[0] as PromiseRejectedResult).reason;
  return first;
}

function valueOf(outcome: Outcome | undefined): unknown {
  return outcome?.status === 'fulfilled' ? outcome.value : undefined;
}

export function pairsOf(reply: unknown): ReadonlyMap<string, string> {
  const flat = Array.isArray(reply) ? reply.map(String) : [];
  return new Map(flat.flatMap((name, index) => (index % 2 === 0 ? [[name, flat[index + 1] ?? '']] : [])));
}

/** Nobody knows whether a command that was not answered was executed (S15); one that was never sent was not. */
export function late(where: string, isUnsent = false): LeaseError {
  const message = `${where} does not answer in time: look at the server and the network`;
  return new LeaseError('STORE_UNAVAILABLE', message, { details: isUnsent ? { executed: false } : {} });
}

export function closed(): LeaseError {
  return new LeaseError('SHUTTING_DOWN', 'the store is closed: connect again');
}
