// N3 for callers that may not recover (W3): who waits for a stream or reads it recovers what blocks it, and where its token does
// not allow that, the server does it in its place. One recovery of a stream at a time; what fails is logged by the recoverer or
// here, and is tried again when somebody looks again.
import type { OpenNumber } from '../../domain/sequence.js';
import { mayDo } from '../access/index.js';
import type { Caller, ServerContext } from '../context.js';

const MOST_AT_ONCE = 16;

interface Seen {
  readonly now: number;
  readonly oldestOpen?: OpenNumber | undefined;
}

export class Unblock {
  readonly #context: ServerContext;
  readonly #running = new Set<string>();

  constructor(context: ServerContext) {
    this.#context = context;
  }

  /** Looks at what `read` or `barrier` answered. */
  saw(caller: Caller, namespace: string, stream: string, answer: Seen): void {
    const { store, leases, logger } = this.#context;
    const { now, oldestOpen } = answer;
    const isDue = oldestOpen !== undefined && oldestOpen.dueAt <= now;
    if (!isDue || mayDo(caller, 'admin') || namespace !== store.namespace) return;
    if (this.#running.has(stream) || this.#running.size >= MOST_AT_ONCE) return;
    this.#running.add(stream);
    const over = (): void => void this.#running.delete(stream);
    const recover = async (): Promise<void> => {
      await leases.sequence(stream).recovery.run();
    };
    recover().then(over, (error: unknown) => {
      over();
      logger.warn({ err: error, stream }, 'recovery for a client failed; it is tried again when it looks again');
    });
  }
}
