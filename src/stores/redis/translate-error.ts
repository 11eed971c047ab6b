// The edge where a server's refusals and a socket's failures become LeaseErrors (A11), each with what to do next. `executed`
// in the details says what is known of the command: false when the server refused it, absent when nobody can tell (S15).
// What a client library hangs on its errors (arguments, among them passwords) stays behind.
import { LeaseError, type LeaseErrorCode } from '../../domain/errors.js';

/** `where` is a url without its secrets, or whose client it is. */
export function translateError(error: unknown, where: string): LeaseError {
  if (error instanceof LeaseError) return error;
  const message = messageOf(error);
  const word = replyWord(error);
  const known = word === '' ? undefined : REPLIES[word];
  if (known) return leaseError(known, { where, message, word, error });
  if (word !== '') return replyOf(word, { where, message, word, error });
  return socketError(error, where, message);
}

interface Meaning {
  readonly code: LeaseErrorCode;
  readonly retryable?: boolean;
  /** The command was turned away before it did anything. */
  readonly executed?: false;
  readonly say: (where: string, message: string) => string;
}

interface Met {
  readonly where: string;
  readonly message: string;
  readonly word: string;
  readonly error: unknown;
}

const unavailable = (say: Meaning['say'], retryable = true): Meaning => ({
  code: 'STORE_UNAVAILABLE',
  retryable,
  executed: false,
  say,
});

const credentials: Meaning = {
  code: 'UNAUTHORIZED',
  executed: false,
  say: (where) => `${where} does not accept these credentials: check user and password in the url`,
};

const REPLIES: Readonly<Record<string, Meaning>> = {
  NOAUTH: {
    code: 'UNAUTHORIZED',
    executed: false,
    say: (where) => `${where} wants a password: write it into the url as redis://user:password@host`,
  },
  WRONGPASS: credentials,
  NOPERM: {
    code: 'FORBIDDEN',
    executed: false,
    say: (where, message) => `${where} forbids this user ${forbidden(message)}: grant it with ACL SETUSER`,
  },
  OOM: unavailable(
    (where) => `${where} is at its maxmemory and takes no new leases: raise maxmemory, or free memory; held ones go on`,
  ),
  WRONGTYPE: {
    code: 'STORE_INCOMPATIBLE',
    say: (where) => `a key of the store at ${where} holds something else: move it away, or use another namespace`,
  },
  READONLY: unavailable((where) => `${where} is a read-only replica: name the primary in the url`),
  LOADING: unavailable((where) => `${where} is still loading its data: it will answer when it has`),
  BUSY: unavailable((where) => `${where} is busy with somebody's long script: wait for it, or end it with SCRIPT KILL`),
  MASTERDOWN: unavailable((where) => `${where} is a replica that has lost its primary: name the primary in the url`),
  CLUSTERDOWN: unavailable((where) => `the cluster at ${where} does not serve this slot now: look at CLUSTER INFO`),
  TRYAGAIN: unavailable((where) => `the slot is on its way to another node of the cluster at ${where}: ask again`),
  NOREPLICAS: unavailable((where) => `${where} has fewer replicas than its min-replicas-to-write: bring them back`),
  MISCONF: unavailable((where) => `${where} refuses writes because it cannot save its data: look at its log and disk`),
  MOVED: {
    code: 'STORE_INCOMPATIBLE',
    executed: false,
    say: (where) => `${where} is a node of a cluster: add ?cluster=true to the url, or hand in a cluster client`,
  },
  ASK: {
    code: 'STORE_INCOMPATIBLE',
    executed: false,
    say: (where) => `${where} is a node of a cluster: add ?cluster=true to the url, or hand in a cluster client`,
  },
  CROSSSLOT: {
    code: 'STORE_INCOMPATIBLE',
    executed: false,
    say: (where) => `${where} says that keys of one namespace lie in two slots: leave the key names as they are`,
  },
  NOPROTO: {
    code: 'STORE_INCOMPATIBLE',
    executed: false,
    say: (where) => `${where} does not speak RESP3, so it is too old: Redis 7.0 or Valkey 7.2 is needed`,
  },
  UNBLOCKED: {
    code: 'STORE_UNAVAILABLE',
    say: (where) => `${where} has become a replica while it answered: name the new primary in the url`,
  },
};

/** Replies whose first word is only ERR, and words this version does not know. */
function replyOf(word: string, met: Met): LeaseError {
  if (/only \(P\|S\)SUBSCRIBE|only subscriber commands/i.test(met.message)) return subscriberMode(met);
  if (/AUTH.*without any password|invalid password|invalid username-password/i.test(met.message)) {
    return leaseError(credentials, met);
  }
  if (/ACL failure in script|NOPERM/i.test(met.message)) {
    const { code, say } = REPLIES['NOPERM'] as Meaning;
    return leaseError({ code, say }, met); // raised inside a script: what came before it may have been done
  }
  if (/unknown command/i.test(met.message)) {
    const say = (where: string, message: string): string =>
      `${where} lacks ${forbidden(message)}: Redis 7.0 or Valkey 7.2 is needed, with nothing renamed`;
    return leaseError({ code: 'STORE_INCOMPATIBLE', executed: false, say }, met);
  }
  if (/DB index is out of range/i.test(met.message)) {
    const say = (where: string): string => `${where} has no such database: name another in the path of the url`;
    return leaseError({ code: 'INVALID_ARGUMENT', executed: false, say }, met);
  }
  const say = (where: string, message: string): string => `${where} answered ${word}: ${message.slice(0, 300)}`;
  return leaseError({ code: 'STORE_UNAVAILABLE', say }, met);
}

export function subscriberMode(met: Pick<Met, 'where' | 'error'>): LeaseError {
  const message = `${met.where} is in subscriber mode and can run nothing else: hand in another client, such as client.duplicate()`;
  return new LeaseError('INVALID_ARGUMENT', message, {
    details: { executed: false },
    cause: withoutSecrets(met.error),
  });
}

function leaseError(meaning: Meaning, { where, message, word, error }: Met): LeaseError {
  const details = { reply: word, ...(meaning.executed === false ? { executed: false } : {}) };
  return new LeaseError(meaning.code, meaning.say(where, message), {
    details,
    cause: withoutSecrets(error),
    ...(meaning.retryable === undefined ? {} : { retryable: meaning.retryable }),
  });
}

function socketError(error: unknown, where: string, message: string): LeaseError {
  const code = codeOf(error);
  const fail = (say: string, more: { retryable?: boolean; executed?: false } = {}): LeaseError =>
    new LeaseError('STORE_UNAVAILABLE', say, {
      details: { driverCode: code, ...(more.executed === false ? { executed: false } : {}) },
      cause: withoutSecrets(error),
      retryable: more.retryable ?? true,
    });
  if (/subscriber mode/i.test(message)) return subscriberMode({ where, error });
  if (code === 'ECONNREFUSED')
    return fail(`nobody listens at ${where}: start the server, or correct the url`, { executed: false });
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') {
    return fail(`${where} names a host that is not known: correct the url, or look at DNS`, { executed: false });
  }
  if (code === 'EPROTO' || code === 'ERR_SSL_WRONG_VERSION_NUMBER') {
    return fail(`${where} does not speak TLS: write redis: instead of rediss:`, { retryable: false, executed: false });
  }
  if (code.startsWith('ERR_TLS') || code.startsWith('ERR_SSL') || CERTIFICATE.test(code)) {
    const say = `${where} cannot be trusted (${code}): correct the host name, or name its authority with ?tlsCa=/path/ca.pem`;
    return fail(say, { retryable: false, executed: false });
  }
  if (/client is closed|Connection is closed/i.test(message) && where.startsWith('the client')) {
    return fail(`${where} is closed: connect it before it is handed over, and close it after the store`, {
      retryable: false,
    });
  }
  if (/timed? ?out/i.test(message) || code === 'ETIMEDOUT')
    return fail(`${where} does not answer in time: look at the server and the network`);
  return fail(
    `the connection to ${where} failed (${code === '' ? message.slice(0, 200) : code}): look at the server and the network`,
  );
}

const CERTIFICATE = /^(?:CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO_|INVALID_(?:CA|PURPOSE)|HOSTNAME_MISMATCH)/;

/** The first word of an error reply, `''` for anything that no server said. */
export function replyWord(error: unknown): string {
  if (!(error instanceof Error) || codeOf(error) !== '') return '';
  return /^([A-Z][A-Z0-9]{2,})(?: |$)/.exec(error.message)?.[1] ?? '';
}

function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' ? code : '';
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message === '' ? error.constructor.name : error.message; // `TimeoutError` of `redis` is all it says
}

/** The command or key that the reply names. */
function forbidden(message: string): string {
  return /'([^']{1,60})'/.exec(message)?.[1] ?? message.replace(/^\S+ /, '').slice(0, 120);
}

function withoutSecrets(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const plain = new Error(error.message);
  plain.name = error.name;
  if (error.stack !== undefined) plain.stack = error.stack;
  return plain;
}
