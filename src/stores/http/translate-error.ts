// The edge where a socket's failures and a server's refusals become LeaseErrors (A11), each with what to do next. Whether
// a request that got no answer was carried out nobody knows (S15); `executed: false` says that it cannot have been. No
// message, detail or cause holds the token: it is only ever in a header.
import { LeaseError, type LeaseErrorCode } from '../../domain/errors.js';

/** What a server says when it says no: problem+json (RFC 9457). */
export interface Problem {
  readonly code: string;
  readonly detail: string;
  /** Left out by what is no server of ours. */
  readonly retryable?: boolean;
  readonly [fact: string]: unknown;
}

const CODES: ReadonlySet<string> = new Set<LeaseErrorCode>([
  ...(['INVALID_ARGUMENT', 'ACQUIRE_TIMEOUT', 'ACQUIRE_ABORTED', 'LEASE_LOST', 'STALE_EPOCH', 'NOT_HELD'] as const),
  ...(['MAX_RENEWALS', 'MAX_HOLD', 'DEADLOCK', 'STORE_UNAVAILABLE', 'STORE_INCOMPATIBLE', 'UNAUTHORIZED'] as const),
  ...(['FORBIDDEN', 'RATE_LIMITED', 'SHUTTING_DOWN', 'SEQUENCE_SETTLED'] as const),
]);

export function isProblem(value: unknown): value is Problem {
  const { code, detail } = (value ?? {}) as Partial<Problem>;
  return typeof code === 'string' && typeof detail === 'string';
}

/** The server's LeaseError, with its code and its facts. */
export function errorOf(problem: Problem): LeaseError {
  const { type: _type, title: _title, status: _status, code, detail, retryable, leaseStatus, ...facts } = problem;
  const details = leaseStatus === undefined ? facts : { ...facts, status: leaseStatus };
  // The server is closing, not this store: another server, or the same one restarted, may answer the next call.
  if (code === 'SHUTTING_DOWN') return new LeaseError('STORE_UNAVAILABLE', detail, { details });
  if (CODES.has(code))
    return new LeaseError(code as LeaseErrorCode, detail, { details, retryable: retryable === true });
  return new LeaseError('STORE_UNAVAILABLE', detail, { details, retryable: retryable === true });
}

/** An answer without a problem in it, by its status: something that stands between, or no server of ours. */
export function errorOfStatus(status: number, where: string, location: string | undefined): LeaseError {
  const details = { status };
  if (status >= 300 && status < 400) {
    const to = location === undefined ? '' : ` (to ${withoutQuery(location)})`;
    const message = `${where} sends its callers elsewhere${to}, and redirects are not followed: name the final address`;
    return new LeaseError('STORE_INCOMPATIBLE', message, { details });
  }
  if (status === 401)
    return new LeaseError('UNAUTHORIZED', `${where} refuses this token: give connect a valid one`, { details });
  if (status === 403)
    return new LeaseError('FORBIDDEN', `${where} does not allow this: look at what stands before the server`, {
      details,
    });
  if (status === 413)
    return new LeaseError('INVALID_ARGUMENT', `${where} takes no request of this size: ask for less at once`, {
      details,
    });
  if (status === 429) return new LeaseError('RATE_LIMITED', `${where} is asked too often: ask less often`, { details });
  if (status === 408 || status >= 500) {
    const message = `${where} answered ${status}: look at the server, and at what stands before it`;
    return new LeaseError('STORE_UNAVAILABLE', message, { details, retryable: true });
  }
  return foreign(where, `status ${status}`);
}

export function noToken(where: string): LeaseError {
  const message = `${where} asks for a token: give connect one (option token, HOLDFAST_TOKEN for the command)`;
  return new LeaseError('UNAUTHORIZED', message, { details: { status: 401 } });
}

export function foreign(where: string, what: string): LeaseError {
  const message = `${where} does not answer as a Holdfast server does (${what}): correct the url, or start \`holdfast serve\` there`;
  return new LeaseError('STORE_INCOMPATIBLE', message);
}

export function otherProtocol(where: string, theirs: unknown, ours: number, version: unknown): LeaseError {
  const server = typeof version === 'string' ? ` (holdfast ${version.slice(0, 40)})` : '';
  const message =
    `${where}${server} speaks version ${String(theirs).slice(0, 10)} of the store's language, this process version ${ours}: ` +
    'run the same release of holdfast on both sides';
  return new LeaseError('STORE_INCOMPATIBLE', message);
}

export function late(where: string, ms: number): LeaseError {
  const message = `${where} did not answer within ${Math.round(ms)} ms: look at the server and the network`;
  return new LeaseError('STORE_UNAVAILABLE', message, { details: { timedOut: true, waitedMs: ms } });
}

export function closed(): LeaseError {
  return new LeaseError('SHUTTING_DOWN', 'the store is closed: connect again');
}

interface Meaning {
  readonly say: string;
  readonly retryable?: false;
  /** The request never left. */
  readonly executed?: false;
}

const SOCKET: Readonly<Record<string, Meaning>> = {
  ECONNREFUSED: { say: 'nobody listens there: start the server, or correct the url', executed: false },
  ENOTFOUND: { say: 'there is no such host: correct the url, or look at DNS', executed: false },
  EAI_AGAIN: { say: 'its name cannot be looked up now: look at DNS', executed: false },
  EHOSTUNREACH: { say: 'there is no way to that host: look at the network' },
  ENETUNREACH: { say: 'there is no way to that network: look at the network' },
  ETIMEDOUT: { say: 'no answer: look at the network and the firewall' },
  ECONNRESET: { say: 'the connection was cut' },
  EPIPE: { say: 'the connection was cut' },
  EPROTO: { say: 'it does not speak TLS: write http: instead of https:', retryable: false, executed: false },
  ERR_SSL_WRONG_VERSION_NUMBER: {
    say: 'it does not speak TLS: write http: instead of https:',
    retryable: false,
    executed: false,
  },
  HPE_INVALID_CONSTANT: {
    say: 'what it answers is not HTTP: correct the url, or write https: if it speaks TLS',
    retryable: false,
  },
};
const CERTIFICATE =
  /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|INVALID_(?:CA|PURPOSE)|HOSTNAME_MISMATCH)/;

/** LeaseErrors pass through; everything else becomes one. */
export function translateError(error: unknown, where: string): LeaseError {
  if (error instanceof LeaseError) return error;
  const code = codeOf(error);
  const meaning = SOCKET[code] ?? (CERTIFICATE.test(code) ? untrusted(code) : unnamed(code, error));
  const details = { driverCode: code, ...(meaning.executed === false ? { executed: false } : {}) };
  return new LeaseError('STORE_UNAVAILABLE', `no answer from ${where}: ${meaning.say}`, {
    details,
    cause: plain(error),
    retryable: meaning.retryable ?? true,
  });
}

function untrusted(code: string): Meaning {
  const say = `its certificate is not trusted (${code}): correct the host name, or name its authority with ?tlsCa=/path/ca.pem`;
  return { say, retryable: false, executed: false };
}

function unnamed(code: string, error: unknown): Meaning {
  if (code.startsWith('HPE_'))
    return { say: `what it answers is not HTTP (${code}): correct the url`, retryable: false };
  const text = error instanceof Error ? error.message.slice(0, 200) : String(error).slice(0, 200);
  return { say: code === '' ? text : `the connection failed (${code})` };
}

export function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : '';
}

/** What Node hangs on its errors stays behind. */
function plain(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const copy = new Error(error.message);
  if (error.stack !== undefined) copy.stack = error.stack;
  return copy;
}

function withoutQuery(location: string): string {
  return location
    .replace(/[?#].*$/s, '')
    .replace(/\/\/[^/@]*@/, '//…@')
    .slice(0, 200);
}
