// The edge where the driver's errors become LeaseErrors (A11), each with a sentence that says what to do next and never a
// password.
//
// What the store's own functions raise (ERRCODE) and what becomes of it:
//   HF001  the transaction is not READ COMMITTED (S16)           STORE_INCOMPATIBLE, and what to set
//   HF002  the caller asked for something that cannot be         INVALID_ARGUMENT, with the function's own message
//   HF003  the data does not suit this code (version, shape)     STORE_INCOMPATIBLE, with the function's own message
//   HF004  not now, and nothing was written                      STORE_UNAVAILABLE, to be tried again, with its message
//   HF005  this role may not do that                             FORBIDDEN, with the function's own message
import { LeaseError, type LeaseErrorCode } from '../../domain/errors.js';
import { explainNetwork } from './pool-network-errors.js';

/** What a message may name. */
export interface Place {
  /** `host:port/database`: where it leads to, without user and password. */
  readonly server: string;
  readonly schema: string;
  /** The server took no writes when the link was opened: no failover, but the wrong address. */
  readonly isReadOnly: boolean;
}

export interface Explained {
  readonly code: LeaseErrorCode;
  readonly message: string;
  readonly retryable?: boolean;
}

interface DriverError extends Error {
  readonly code: string;
}

/** The SQLSTATE, or the code of a system or TLS error; '' when there is none. */
export function codeOf(error: unknown): string {
  return error instanceof Error && typeof (error as DriverError).code === 'string' ? (error as DriverError).code : '';
}

/** Five capitals and digits, with a digit: system errors of five letters (EPIPE) have none. */
export function isSqlState(code: string): boolean {
  return /^(?=.*\d)[0-9A-Z]{5}$/.test(code);
}

/** What a replica says of an unlogged table, and of its place in the log: in the server's language, under codes that others use too. */
export function maySayReplica(error: unknown): boolean {
  return codeOf(error) === '0A000' || codeOf(error) === '55000';
}

/** What a replica refused, in whatever words. */
export function replicaError(error: unknown, place: Place): LeaseError {
  return explained(error, place, '25006');
}

/** What refuses writes from the start, seen before any is tried. */
export function noWrites(place: Omit<Place, 'isReadOnly'>): LeaseError {
  return replicaError(undefined, { ...place, isReadOnly: true });
}

/** Of a call that grants: one of its ids is not new, and its name is free. The primary key said so (docs/decisions/0033). */
export function saysKnownId(error: unknown): boolean {
  return error instanceof LeaseError && error.details['driverCode'] === '23505';
}

/** LeaseErrors pass through; everything else becomes one. */
export function translateError(error: unknown, place: Place): LeaseError {
  return error instanceof LeaseError ? error : explained(error, place, codeOf(error));
}

function explained(error: unknown, place: Place, code: string): LeaseError {
  const text = error instanceof Error ? error.message : String(error);
  const {
    code: leaseCode,
    message,
    retryable,
  } = isSqlState(code) ? explainSqlState(code, text, place) : explainNetwork(code, text, place.server);
  return new LeaseError(leaseCode, message, {
    details: { server: place.server, ...(codeOf(error) === '' ? {} : { driverCode: codeOf(error) }) },
    ...(error === undefined ? {} : { cause: error }),
    ...(retryable === undefined ? {} : { retryable }),
  });
}

const gone = (message: string): Explained => ({ code: 'STORE_UNAVAILABLE', message, retryable: true });

type Explain = (text: string, place: Place) => Explained;

const EXACT: Readonly<Record<string, Explain>> = {
  HF001: (_text, { server }) => isolation(server),
  HF002: (text) => ({ code: 'INVALID_ARGUMENT', message: text }),
  HF003: (text) => ({ code: 'STORE_INCOMPATIBLE', message: text }),
  HF004: (text) => gone(text),
  HF005: (text) => ({ code: 'FORBIDDEN', message: text }),

  '28P01': unauthorized,
  '28000': unauthorized,
  '3D000': noDatabase,
  '42501': (text, { server, schema }) => ({
    code: 'FORBIDDEN',
    message:
      `this role may not do that at ${server} (${text}): GRANT CREATE ON DATABASE to set it up, or let its owner run ` +
      `\`holdfast migrate\` and GRANT USAGE ON SCHEMA ${schema} with what docs/stores/postgres.md lists`,
  }),
  '25006': (_text, { server, isReadOnly }) =>
    isReadOnly
      ? {
          code: 'STORE_INCOMPATIBLE',
          message: `${server} takes no writes: it is a read-only replica, which cannot be looked at either, or default_transaction_read_only is on; name the primary in the url`,
        }
      : gone(`${server} takes no more writes: it became a replica or was made read-only; the next call connects anew`),

  '53300': (text, { server }) =>
    gone(`${server} has no connection left (${text}): raise max_connections or make the pools smaller`),
  '53100': (_text, { server }) => gone(`the disk of ${server} is full: free some space; nothing was half written`),
  '25P03': timedOut,
  '25P04': timedOut,
  '40001': (_text, { server }) =>
    gone(`${server} rolled this call back for another one: nothing was written, try again`),
  '40P01': (_text, { server }) => gone(`${server} ended this call in a deadlock: nothing was written, try again`),
  '54000': (text, { server }) => gone(`a limit of ${server} is reached, perhaps its queue of notifications: ${text}`),
  '55P03': (_text, { server }) =>
    gone(
      `a lock at ${server} did not come free in time (lock_timeout): nothing was written; look in pg_locks for its holder`,
    ),
  '57014': (text, { server }) =>
    gone(`${server} cancelled this call (${text}): nothing was written; raise statement_timeout, or look in pg_locks`),
  '57P01': (_text, { server }) =>
    gone(`${server} ended the connection: it is shutting down or restarting, or an operator did it`),
  '57P02': (_text, { server }) =>
    gone(`${server} crashed and is coming up again: what was asked may or may not be done`),
  '57P03': (text, { server }) => gone(`${server} takes no connections now (${text}): it is starting or stopping`),

  '42883': notMigrated,
  '3F000': notMigrated,
  '42P01': notMigrated,
  '42703': notMigrated,
  '42704': notMigrated,
};

/** By the first two characters. */
const CLASS: Readonly<Record<string, Explain>> = {
  '08': (text, place) => {
    // PgBouncer has one code for all of its own refusals, and says them in English.
    if (/password authentication failed|no such user|auth failed/i.test(text)) return unauthorized(text, place);
    if (/no such database/i.test(text)) return noDatabase(text, place);
    return gone(`the connection to ${place.server} failed: ${text}`);
  },
  '53': (text, { server }) => gone(`${server} is short of resources: ${text}`),
  '57': (text, { server }) => gone(`${server} stopped this call: ${text}`),
  '58': (text, { server }) => gone(`${server} had an error of its system: ${text}`),
  HF: (text) => ({ code: 'STORE_INCOMPATIBLE', message: text }),
  XX: (text, { server }) => gone(`${server} had an internal error: ${text}; look in its log`),
  '0A': (text, { server }) => ({
    code: 'STORE_INCOMPATIBLE',
    message: `${server} cannot do what the store needs: ${text}; PostgreSQL 13 or newer is needed`,
  }),
};

function explainSqlState(code: string, text: string, place: Place): Explained {
  const explain = EXACT[code] ?? CLASS[code.slice(0, 2)];
  if (explain) return explain(text, place);
  // Neither the server's condition nor the caller's fault: repeating it would not help.
  const message = `the store at ${place.server} failed: ${text} (SQLSTATE ${code})`;
  return { code: 'STORE_UNAVAILABLE', message, retryable: false };
}

function isolation(server: string): Explained {
  const message =
    `transactions at ${server} do not run READ COMMITTED: remove default_transaction_isolation from the role, the ` +
    'database and the options of the pool (ALTER ROLE … RESET default_transaction_isolation)';
  return { code: 'STORE_INCOMPATIBLE', message };
}

/** What the functions refuse (S16), seen before any of them is called. */
export function notReadCommitted(server: string): LeaseError {
  const { code, message } = isolation(server);
  return new LeaseError(code, message, { details: { server } });
}

/** idle_in_transaction_session_timeout, transaction_timeout. */
function timedOut(text: string, { server }: Place): Explained {
  return gone(`${server} ended this call and its connection (${text}): nothing was written; raise that setting`);
}

function unauthorized(text: string, { server }: Place): Explained {
  return { code: 'UNAUTHORIZED', message: `${server} refuses this user (${text}): check user and password in the url` };
}

function noDatabase(text: string, { server }: Place): Explained {
  const message = `there is no such database at ${server} (${text}): create it, or name another in the url`;
  return { code: 'STORE_UNAVAILABLE', message, retryable: false };
}

function notMigrated(text: string, { server, schema }: Place): Explained {
  const message = `the schema ${schema} at ${server} is not there or of another version (${text}): run \`holdfast migrate\``;
  return { code: 'STORE_INCOMPATIBLE', message };
}
