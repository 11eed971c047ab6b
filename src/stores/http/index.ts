// holdfast/stores/http: leases of a Holdfast server, `connect('http://…', { token })`.
import { checkNamespace } from '../../domain/check-request.js';
import type { Clock } from '../../domain/clock.js';
import { invalid } from '../../domain/errors.js';
import type { Store } from '../store.js';
import { Calls } from './calls.js';
import { PROTOCOL } from './codec.js';
import { HttpStore, type ServerFacts } from './http-store.js';
import { parseHttpUrl } from './http-url.js';
import { foreign, otherProtocol } from './translate-error.js';
import { Transport, type Answered } from './transport.js';

export interface HttpOptions {
  readonly clock: Clock;
  readonly namespace?: string | undefined;
  /** As `holdfast token create` showed it; sent in the Authorization header and nowhere else. */
  readonly token?: string | undefined;
}

const OPEN_WITHIN_MS = 5_000;
const TOKEN = /^[\x21-\x7e]{1,512}$/;

export async function openHttp(url: string, options: HttpOptions): Promise<Store> {
  const { clock, token } = options;
  const namespace = checkNamespace(options.namespace ?? 'default');
  if (token !== undefined && (typeof token !== 'string' || !TOKEN.test(token)))
    throw invalid('token is text of 1 to 512 printable characters without spaces: give the one `token create` showed');
  const transport = new Transport(parseHttpUrl(url), { clock, token });
  try {
    const ask = { method: 'GET', path: '/v1/store', withinMs: OPEN_WITHIN_MS, isRepeatable: true } as const;
    const facts = factsOf(await transport.send(ask), transport.where);
    return new HttpStore(new Calls(transport, clock), namespace, facts);
  } catch (error) {
    transport.close();
    throw error;
  }
}

function factsOf({ body }: Answered, where: string): ServerFacts {
  const { protocol, version, kind, sequences, owner } = (body ?? {}) as Readonly<Record<string, unknown>>;
  if (typeof protocol !== 'number' || typeof kind !== 'string') throw foreign(where, 'not its language');
  if (protocol !== PROTOCOL) throw otherProtocol(where, protocol, PROTOCOL, version);
  const actsAs = typeof owner === 'string' ? owner : undefined;
  return { version: String(version), kind, sequences: sequences === true, actsAs };
}
