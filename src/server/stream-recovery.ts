// Streams of clients (N3, O1): a client of the server has no recovery service of its own, and its token may not allow it to recover
// (W3), so the server does it in its place.
//
//   a number was leased here, or there are streams at the start   → the recovery service of the served namespace runs
//   somebody reads or waits, and what blocks the stream is due    → it is recovered now, in whichever namespace
//
// One recovery of a stream at a time; what fails is logged by the recoverer or here, and is tried again when somebody looks again.
import { connect } from '../connect.js';
import type { OpenNumber } from '../domain/sequence.js';
import type { ServerContext } from './context.js';

const MOST_AT_ONCE = 16;

interface Seen {
  readonly now: number;
  readonly oldestOpen?: OpenNumber | undefined;
}

export class StreamRecovery {
  readonly #parts: Pick<ServerContext, 'store' | 'leases' | 'logger' | 'clock'>;
  readonly #running = new Set<string>();
  #isServing = false;

  constructor(parts: Pick<ServerContext, 'store' | 'leases' | 'logger' | 'clock'>) {
    this.#parts = parts;
  }

  /** Streams that were there before this server are looked after from its start on. */
  async start(): Promise<void> {
    const { store } = this.#parts;
    const [first] = (await store.sequences?.streams({ limit: 1 }))?.streams ?? [];
    if (first) this.leased(store.namespace, first.name);
  }

  leased(namespace: string, stream: string): void {
    const { store, leases } = this.#parts;
    if (this.#isServing || namespace !== store.namespace) return;
    this.#isServing = true;
    leases.sequence(stream); // opening one, whichever, starts the service for all
  }

  /** Looks at what `read` or `barrier` answered. */
  saw(namespace: string, stream: string, { now, oldestOpen }: Seen): void {
    const isDue = oldestOpen !== undefined && oldestOpen.dueAt <= now;
    const key = `${namespace} ${stream}`;
    if (!isDue || this.#running.has(key) || this.#running.size >= MOST_AT_ONCE) return;
    this.#running.add(key);
    const over = (): void => void this.#running.delete(key);
    this.#recover(namespace, stream).then(over, (error: unknown) => {
      over();
      const facts = { err: error, namespace, stream };
      this.#parts.logger.warn(facts, 'recovery for a client failed; it is tried again when it looks again');
    });
  }

  async #recover(namespace: string, stream: string): Promise<void> {
    const { store, leases, logger, clock } = this.#parts;
    if (namespace === store.namespace) {
      await leases.sequence(stream).recovery.run();
      return;
    }
    const there = await connect(store, { namespace, owner: leases.owner, services: 'off', logger, clock });
    try {
      await there.sequence(stream).recovery.run();
    } finally {
      await there.shutdown();
    }
  }
}
