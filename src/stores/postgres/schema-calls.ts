// Calling the functions of one schema: the texts of the statements, replies as they come, and what belongs to the schema as a
// whole. One of these is shared by the stores of all namespaces.
import type { Clock } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { Awake } from '../protocol/awake.js';
import type { CallsAtOnce, Reply } from '../store.js';
import type { StoreHealth } from '../store-health.js';
import { healthOfServer } from './health.js';
import { Hints } from './hints.js';
import type { PostgresLink, Statement } from './link.js';
import { checkMigrated, migrate, type Migrated } from './migrate.js';
import { quoteName } from './quote.js';
import { SequenceHints } from './sequence-hints.js';
import type { Place } from './translate-error.js';

/** A call begins anew when an id turns up between looking it up and locking it, and when its namespace or this life is not open yet. */
const MOST_TRIES = 8;
const VERSION = 'v1';
/** A process of the server for each; a few items are work enough for one. */
const CALLS_AT_ONCE: CallsAtOnce = { calls: 2, enough: 16 };
/** acquire and end. */
const LANES = 2;
const LEFT_FOR_OTHERS = 2;

/** The one call that waits neither for a disk nor for a list: a caller who is alone stays awake for it (docs/decisions/0027). */
const QUICK_CALL = 'end_one';
/** Longer than it takes a server on the same machine. */
const AWAKE_MS = 0.3;

interface Options {
  readonly clock: Clock;
  readonly channel: string;
  readonly isReadOnly: boolean;
  readonly awake: boolean;
}

interface Document {
  readonly now: number;
  readonly incarnation: string;
  readonly version: number;
  readonly body: unknown;
}

export class SchemaCalls {
  readonly schema: string;
  readonly hints: Hints;
  readonly sequenceHints: SequenceHints;
  readonly #link: PostgresLink;
  readonly #isReadOnly: boolean;
  readonly #awake: Awake | undefined;
  readonly #statements = new Map<string, Statement>();
  #isClosed = false;

  constructor(link: PostgresLink, schema: string, options: Options) {
    this.#link = link;
    this.schema = schema;
    this.#isReadOnly = options.isReadOnly;
    this.#awake = options.awake ? new Awake(options.clock, AWAKE_MS) : undefined;
    this.hints = new Hints(link, options.clock, options.channel);
    this.sequenceHints = new SequenceHints(link, options.clock, options.channel);
  }

  async call<T>(name: string, values: readonly unknown[]): Promise<Reply & { body: T }> {
    this.#checkOpen();
    const statement = this.#statement(name, values.length);
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const reply = await (name === QUICK_CALL
        ? this.#askAwake(statement, values)
        : this.#link.reply(statement, values));
      if (typeof reply === 'string') return parseReply<T>(reply);
      // By itself, before anything else is locked (S16). Where everything is open it changes nothing.
      await this.#link.reply(this.#statement('enter', 1), [values[0]]);
    }
    throw new LeaseError(
      'STORE_UNAVAILABLE',
      'ids were written by somebody else each time this call looked: try again',
    );
  }

  async #askAwake(statement: Statement, values: readonly unknown[]): Promise<unknown> {
    const answer = this.#link.reply(statement, values);
    this.#awake?.left();
    try {
      return await answer;
    } finally {
      this.#awake?.answered();
    }
  }

  /** The same statement over a connection of the caller's. */
  text(name: string, count: number): string {
    this.#checkOpen();
    return this.#statement(name, count).text;
  }

  async migrate({ dryRun }: { readonly dryRun: boolean }): Promise<Migrated> {
    this.#checkOpen();
    return this.#isReadOnly && !dryRun
      ? checkMigrated(this.#link, this.schema, true)
      : migrate(this.#link, this.schema, { dryRun });
  }

  async health(): Promise<StoreHealth> {
    this.#checkOpen();
    return healthOfServer(this.#link, this.schema);
  }

  /** Where it leads to, for messages. */
  get place(): Place {
    return { server: String(this.#link.facts()['server']), schema: this.schema, isReadOnly: this.#isReadOnly };
  }

  /** A few connections are left for renewals and looking. */
  get callsAtOnce(): CallsAtOnce | undefined {
    return this.#link.size < LEFT_FOR_OTHERS + CALLS_AT_ONCE.calls * LANES ? undefined : CALLS_AT_ONCE;
  }

  facts(): Readonly<Record<string, unknown>> {
    return { schema: this.schema, ...this.#link.facts() };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.hints.close();
    this.sequenceHints.close();
    await this.#link.close();
  }

  #checkOpen(): void {
    if (this.#isClosed) throw new LeaseError('SHUTTING_DOWN', 'the store is closed: connect again');
  }

  /** As many as there are functions. */
  #statement(name: string, count: number): Statement {
    const known = this.#statements.get(name);
    if (known) return known;
    const values = Array.from({ length: count }, (_, i) => `$${i + 1}`).join(', ');
    const text = `SELECT ${quoteName(this.schema)}.${name}_${VERSION}(${values}) AS reply`;
    const made: Statement = { name: `hf_${name}`, text };
    this.#statements.set(name, made);
    return made;
  }
}

export function parseReply<T>(reply: string): Reply & { body: T } {
  const { now, incarnation, version, body } = JSON.parse(reply) as Document;
  return { now, incarnation, settingsVersion: version, body: body as T };
}
