// What the PostgreSQL store asks of its connections, whoever owns them: one statement, one round trip; a transaction for
// migrations; and hints over LISTEN. Errors that leave here are LeaseErrors already.
import type { LeaseError } from '../../domain/errors.js';

export interface Statement {
  /** Unique to its text: prepared under this name where the connection keeps prepared statements (a pooler may not). */
  readonly name: string;
  readonly text: string;
}

export type Row = Readonly<Record<string, unknown>>;
export type Query = (statement: Statement, values: readonly unknown[]) => Promise<readonly Row[]>;

/** Hints, never truth (Q3). */
export interface LinkListener {
  message(payload: string): void;
  /** Nothing will be heard until `up`. Without a right to LISTEN this comes once, and polling is all there is (S19). */
  down(error: LeaseError): void;
  up(): void;
}

export interface PostgresLink {
  /** One round trip in a transaction of its own, READ COMMITTED (S16); rejects with a LeaseError. */
  readonly query: Query;
  /** The same for a statement whose answer is one text, called `reply`. */
  reply(statement: Statement, values: readonly unknown[]): Promise<unknown>;
  /** BEGIN … COMMIT on one connection, rolled back when `work` rejects. */
  transaction<T>(work: (query: Query) => Promise<T>): Promise<T>;
  /** How many connections there may be at once, listening aside. */
  readonly size: number;
  /** One connection of its own for all channels (S19). */
  listen(channel: string, listener: LinkListener): () => void;
  /** For `info` and `health`: whose pool, size, in use, waiting, whether it can listen. */
  facts(): Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}
