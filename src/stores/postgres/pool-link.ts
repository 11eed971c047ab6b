// The link over a pool: a statement or a transaction takes a connection and gives it back, whatever happens, and what goes
// wrong leaves here as a LeaseError. Statements are prepared by name until a pooler shows that it keeps no names (S19).
import { createHash } from 'node:crypto';
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import type { Connections } from './connections.js';
import type { LinkListener, PostgresLink, Query, Row, Statement } from './link.js';
import type { Listener } from './listener.js';
import type { Borrowed } from './pool-borrowed.js';
import type { Pool } from './pool-driver.js';
import { codeOf, maySayReplica, replicaError, translateError, type Place } from './translate-error.js';

/** Migrations build indexes, and wait for one another. */
const TRANSACTION_LIMIT_MS = 120_000;
/** What is under way when the link is closed may still be answered for this long. */
const CLOSE_PATIENCE_MS = 2_000;
const LAST_WORDS_MS = 500;

export interface PoolLinkParts {
  readonly pool: Pool;
  readonly isOwn: boolean;
  readonly connections: Connections;
  readonly listener: Listener;
  readonly clock: Clock;
  readonly place: () => Place;
}

export class PoolLink implements PostgresLink {
  readonly #parts: PoolLinkParts;
  /** A pool without a listener for its errors would end the process when an idle connection dies (S12). */
  readonly #onPoolError = (): void => undefined;
  readonly #names = new Map<string, string>();
  #keepsNames = true;
  #known: Readonly<Record<string, unknown>> = {};
  #closed: Promise<void> | undefined;

  constructor(parts: PoolLinkParts) {
    this.#parts = parts;
    parts.pool.on('error', this.#onPoolError);
  }

  /** More facts, learnt on the way. */
  know(facts: Readonly<Record<string, unknown>>): void {
    this.#known = { ...this.#known, ...facts };
  }

  readonly query: Query = (statement, values) =>
    this.#askNamed(async (borrowed, keepsNames) => {
      const { text } = statement;
      const { rows } = await borrowed.run(
        keepsNames ? { name: this.#nameOf(statement), text, values } : { text, values },
      );
      return rows as readonly Row[];
    });

  reply(statement: Statement, values: readonly unknown[]): Promise<unknown> {
    return this.#askNamed((borrowed, keepsNames) => {
      const name = keepsNames ? this.#nameOf(statement) : '';
      return borrowed.reply({ name, text: statement.text, values });
    });
  }

  async transaction<T>(work: (query: Query) => Promise<T>): Promise<T> {
    if (this.#closed) throw closedError();
    return this.#withConnection((borrowed) => this.#transact(borrowed, work));
  }

  listen(channel: string, listener: LinkListener): () => void {
    if (this.#closed) throw closedError();
    return this.#parts.listener.listen(channel, listener);
  }

  get size(): number {
    return this.#parts.connections.figures().size;
  }

  facts(): Readonly<Record<string, unknown>> {
    const { isOwn, connections, listener, place } = this.#parts;
    const { size, inUse, idle, waiting } = connections.figures();
    return {
      server: place().server,
      ...this.#known,
      pool: isOwn ? 'own' : "the caller's",
      poolSize: size,
      inUse,
      idle,
      waiting,
      statements: this.#keepsNames ? 'prepared' : 'not prepared: a pooler keeps no names',
      push: listener.state,
    };
  }

  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    const { pool, isOwn, connections, listener, clock } = this.#parts;
    listener.close();
    const cutting = clock.after(CLOSE_PATIENCE_MS, () => connections.cutAll(), true);
    await connections.allBack();
    cutting.cancel();
    if (isOwn) await this.#endPool();
    else pool.off('error', this.#onPoolError);
  }

  /** Not for ever: one of its connections may still be connecting to a host that says nothing. */
  #endPool(): Promise<void> {
    const { pool, clock } = this.#parts;
    return new Promise((resolve, reject) => {
      const timer = clock.after(LAST_WORDS_MS, resolve, true);
      pool
        .end()
        .finally(() => timer.cancel())
        .then(resolve, reject);
    });
  }

  async #withConnection<T>(work: (borrowed: Borrowed) => Promise<T>): Promise<T> {
    const borrowed = await this.#parts.connections.borrow();
    try {
      return await work(borrowed);
    } finally {
      borrowed.giveBack();
    }
  }

  /** A name that was refused was refused before anything was executed: the same is asked once more without one. */
  async #askNamed<T>(ask: (borrowed: Borrowed, keepsNames: boolean) => Promise<T>): Promise<T> {
    if (this.#closed) throw closedError();
    const { connections } = this.#parts;
    let borrowed: Borrowed | undefined;
    try {
      borrowed = connections.borrowAtOnce() ?? (await connections.borrow());
      return await ask(borrowed, this.#keepsNames);
    } catch (error) {
      if (!isLostName(codeOf(error))) throw await this.#explain(error, borrowed);
      // Outlines of plans that changed come back with a new connection.
      if (codeOf(error) !== CHANGED_PLAN) this.#keepsNames = false;
    } finally {
      borrowed?.giveBack();
    }
    return this.#withConnection(async (another) => {
      try {
        return await ask(another, false);
      } catch (error) {
        throw await this.#explain(error, another);
      }
    });
  }

  async #transact<T>(borrowed: Borrowed, work: (query: Query) => Promise<T>): Promise<T> {
    const run = (text: string, values: readonly unknown[] = []): Promise<{ readonly rows: readonly unknown[] }> =>
      borrowed.run({ text, values, limitMs: TRANSACTION_LIMIT_MS }).catch((error: unknown) => {
        throw translateError(error, this.#parts.place());
      });
    const query: Query = async ({ text }, values) => {
      const result = await run(text, values);
      // A text of several commands has several results: the last one counts.
      const last = Array.isArray(result) ? (result.at(-1) as typeof result) : result;
      return last.rows as readonly Row[];
    };
    await run('BEGIN ISOLATION LEVEL READ COMMITTED');
    try {
      const result = await work(query);
      await run('COMMIT');
      return result;
    } catch (error) {
      if (!borrowed.isBroken) await run('ROLLBACK').catch(() => borrowed.spoil());
      throw error;
    }
  }

  async #explain(error: unknown, borrowed: Borrowed | undefined): Promise<LeaseError> {
    const place = this.#parts.place();
    if (borrowed && maySayReplica(error) && (await isReplica(borrowed))) return replicaError(error, place);
    return translateError(error, place);
  }

  /** Behind a pooler two versions of this program share a server's connection: a name stands for one text, for ever. */
  #nameOf({ name, text }: Statement): string {
    let full = this.#names.get(text);
    if (full === undefined) {
      full = `${name.slice(0, 40)}_${createHash('sha256').update(text).digest('hex').slice(0, 16)}`;
      this.#names.set(text, full); // as many as there are statements in the code
    }
    return full;
  }
}

/** Asked over the connection that refused: another may lead to another server already. Only a definite no makes a refusal final. */
async function isReplica(borrowed: Borrowed): Promise<boolean> {
  const answer = await borrowed.run({ text: 'SELECT pg_is_in_recovery() AS replica' }).catch(() => undefined);
  return (answer?.rows[0] as Row | undefined)?.['replica'] !== false;
}

const CHANGED_PLAN = '0A000';

/** 26000: no such name here. 42P05: somebody else's is here already. 0A000: its result changed with a migration. */
function isLostName(code: string): boolean {
  return code === '26000' || code === '42P05' || code === CHANGED_PLAN;
}

function closedError(): LeaseError {
  return new LeaseError('SHUTTING_DOWN', 'the store is closed: connect again');
}
