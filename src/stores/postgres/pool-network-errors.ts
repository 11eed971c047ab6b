// What Node and the driver say when there is no answer from a server at all: no address, no listener, no TLS, no more socket.
// After each of these the fate of what was sent is unknown (S15), so all but wrong settings may be tried again.
import type { Explained } from './translate-error.js';

const HINTS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nobody listens there: start the server, or check host and port',
  ENOTFOUND: 'there is no such host: check its name in the url',
  EAI_AGAIN: 'its name cannot be looked up now: check the network',
  ETIMEDOUT: 'no answer: check the network and the firewall',
  EHOSTUNREACH: 'there is no way to that host: check the network',
  ENETUNREACH: 'there is no way to that network: check the network',
  ECONNRESET: 'the connection was cut',
  EPIPE: 'the connection was cut',
  ENOENT: 'there is no such socket: start the server, or check host and port',
};

/** Node's words for a certificate it does not trust; the alternative is a server that listens for anybody. */
const UNTRUSTED: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
]);

export function explainNetwork(code: string, text: string, server: string): Explained {
  const wrong = explainTls(code, text, server) ?? explainDriver(text, server);
  if (wrong) return wrong;
  const hint = HINTS[code] ?? (text === '' ? 'the connection failed' : text);
  return { code: 'STORE_UNAVAILABLE', message: `no answer from PostgreSQL at ${server}: ${hint}`, retryable: true };
}

/** A certificate does not become right by trying again. */
function explainTls(code: string, text: string, server: string): Explained | undefined {
  const refused = (message: string): Explained => ({ code: 'STORE_UNAVAILABLE', message, retryable: false });
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') {
    return refused(
      `the certificate of ${server} is for another name (${text}): use a name it carries as host in the url`,
    );
  }
  if (code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID') {
    return refused(`the certificate of ${server} is not valid now (${text}): renew it, or set the clock`);
  }
  if (UNTRUSTED.has(code)) {
    return refused(
      `the certificate of ${server} is not trusted (${text}): name its authority with sslrootcert=/path in the url`,
    );
  }
  if (/server does not support SSL/i.test(text)) {
    return refused(`${server} speaks no TLS: switch it on there, or use sslmode=disable in the url`);
  }
  return code.startsWith('ERR_SSL_') || code === 'EPROTO'
    ? refused(`the TLS handshake with ${server} failed: ${text}`)
    : undefined;
}

function explainDriver(text: string, server: string): Explained | undefined {
  if (/password must be a (?:non-empty )?string/i.test(text)) {
    return { code: 'UNAUTHORIZED', message: `${server} asks for a password: put one into the url, or into PGPASSWORD` };
  }
  return undefined;
}
