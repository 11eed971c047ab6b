// A call of one function of the schema, as a query of `pg`'s own kind (what pg-cursor is, too): one prepared statement that answers one
// row of one text. Its shape is known, so no description of the row is asked for or read, and values are written as they
// are: text, numbers, booleans, null and lists of them. It is the way of every call; each step less is felt by a caller that is alone.
//
//   submit: [parse, the first time on this connection] bind execute sync ──▶ data row ──▶ ready: the text, or the error
import type { PoolClient } from './pool-driver.js';

/** The part of a connection of `pg` that a query of one's own writes to. */
interface Wire {
  readonly stream: { cork?(): void; uncork?(): void };
  readonly parsedStatements: Readonly<Record<string, string | undefined>>;
  /** Not in every version of `pg`. */
  readonly submittedNamedStatements?: Record<string, string | undefined>;
  parse(statement: { name: string; text: string }): void;
  bind(values: { portal: string; statement: string; values: readonly (string | null)[] }): void;
  execute(portal: { portal: string }): void;
  sync(): void;
}

/** An empty name is a statement for this once. */
export interface NamedCall {
  readonly name: string;
  readonly text: string;
  readonly values: readonly unknown[];
}

type Answered = (error: Error | null | undefined, reply: string | null | undefined) => void;

/** Not over libpq, nor where the caller has its queries sent one behind the other: `pg` takes none but its own there. */
export function takesReplyQueries(client: PoolClient): boolean {
  const { connection, pipeline } = client as Partial<PoolClient>;
  return connection !== undefined && pipeline !== true;
}

export class ReplyQuery {
  readonly name: string;
  readonly text: string;
  readonly #values: readonly (string | null)[];
  #reply: string | null | undefined;
  /** `pg` puts its own in front of it where the client has a `query_timeout`. */
  callback: Answered;

  constructor({ name, text, values }: NamedCall, callback: Answered) {
    this.name = name;
    this.text = text;
    this.#values = values.map(wireText);
    this.callback = callback;
  }

  submit(connection: unknown): null {
    const wire = connection as Wire;
    const { name, text } = this;
    wire.stream.cork?.();
    try {
      const submitted = wire.submittedNamedStatements;
      if (name === '' || (wire.parsedStatements[name] ?? submitted?.[name]) === undefined) {
        wire.parse({ name, text });
        if (name !== '' && submitted) submitted[name] = text;
      }
      wire.bind({ portal: '', statement: name, values: this.#values });
      wire.execute({ portal: '' });
      wire.sync();
    } finally {
      wire.stream.uncork?.();
    }
    return null;
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    this.#reply = fields[0];
  }
  handleError(error: Error): void {
    this.callback(error, undefined);
  }
  handleReadyForQuery(): void {
    this.callback(null, this.#reply);
  }

  handleRowDescription(): void {
    // Nobody asked for one.
  }
  handleCommandComplete(): void {
    // What counts is that the connection is ready again.
  }
  handleEmptyQuery(): void {
    // There is no such call.
  }
  handlePortalSuspended(): void {
    // All rows are asked for at once.
  }
}

/** A value as PostgreSQL reads it. */
export function wireText(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (value === null || value === undefined) return null;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  return Array.isArray(value) ? `{${value.map(elementText).join()}}` : JSON.stringify(value);
}

/** What needs no quotes in an array: ids, names, owners and request ids nearly always. A word that means nothing else is no NULL. */
const UNQUOTED = /^(?!null$)[\w./:+-]+$/i;

function elementText(value: unknown): string {
  if (typeof value === 'number') return String(value);
  const text = wireText(value);
  if (text === null) return 'NULL';
  if (Array.isArray(value) || UNQUOTED.test(text)) return text;
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
