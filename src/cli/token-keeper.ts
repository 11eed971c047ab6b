// Where `holdfast token` makes and revokes tokens: in the store itself, or through a server, which then judges by the token of
// whoever asks (HOLDFAST_TOKEN). Both answer in the same shape.
import { parseDuration } from '../domain/duration.js';
import { LeaseError, type LeaseErrorCode } from '../domain/errors.js';
import { silentLogger } from '../observe/logger.js';
import { TokenAccess, tokenView, type NewToken, type TokenView } from '../server/access/index.js';
import { openStore } from '../stores/open-store.js';
import type { Context } from './context.js';

export type WantedToken = Omit<NewToken, 'expiresInMs'> & { readonly expiresIn?: string | undefined };
export type MadeTokenView = TokenView & { secret: string };

export interface TokenKeeper {
  create(wanted: WantedToken): Promise<MadeTokenView>;
  list(): Promise<TokenView[]>;
  revoke(idOrName: string): Promise<TokenView>;
}

const LONGEST_LIFE_MS = 10 * 365 * 86_400_000;
const REQUEST_MS = 10_000;

/** `isLooking`: nothing is made or migrated. */
export async function tokenKeeper(context: Context, isLooking: boolean): Promise<TokenKeeper> {
  const { value: url } = await context.store();
  return /^https?:/i.test(url) ? throughServer(context, url) : inStore(context, url, isLooking);
}

async function inStore(context: Context, url: string, isLooking: boolean): Promise<TokenKeeper> {
  const { clock, isOwnStore: isFolderMade } = context;
  const namespace = context.namespace().value;
  const looking = { migrate: 'check', readOnly: true, isFolderMade } as const;
  const store = await openStore(url, { clock, namespace, ...(isLooking ? looking : { migrate: 'auto' }) });
  context.onClose(() => store.close());
  const access = new TokenAccess({ store, clock, logger: silentLogger });
  const { value: name } = context.owner();
  const by = { tokenId: undefined, name, role: 'admin', prefix: undefined, owner: undefined } as const;
  return {
    create: async ({ expiresIn, ...wanted }) => {
      const { token, secret } = await access.create(by, { ...wanted, expiresInMs: lifeMs(expiresIn) });
      return { ...tokenView(token), secret };
    },
    list: async () => (await access.list(by)).map(tokenView),
    revoke: async (idOrName) => tokenView(await access.revoke(by, idOrName)),
  };
}

function lifeMs(expiresIn: string | undefined): number | undefined {
  if (expiresIn === undefined) return undefined;
  return parseDuration(expiresIn, { name: '--expires', minMs: 1_000, maxMs: LONGEST_LIFE_MS });
}

function throughServer(context: Context, url: string): TokenKeeper {
  const base = url.replace(/[?#].*$/, '').replace(/\/+$/, '');
  const ask = (method: string, path: string, body?: object): Promise<unknown> =>
    askServer(context, `${base}${path}`, { method, ...(body ? { body: JSON.stringify(body) } : {}) });
  return {
    create: async ({ expiresIn, ...wanted }) =>
      (await ask('POST', '/v1/tokens', { ...wanted, expiresIn: lifeMs(expiresIn) })) as MadeTokenView,
    list: async () => ((await ask('GET', '/v1/tokens')) as { items: TokenView[] }).items,
    revoke: async (idOrName) => (await ask('DELETE', `/v1/tokens/${encodeURIComponent(idOrName)}`)) as TokenView,
  };
}

async function askServer({ clock }: Context, url: string, init: { method: string; body?: string }): Promise<unknown> {
  const { HOLDFAST_TOKEN: token } = process.env;
  const hasToken = token !== undefined && token !== '';
  const given = hasToken ? { authorization: `Bearer ${token}` } : {};
  const patience = new AbortController();
  const timer = clock.after(REQUEST_MS, () => patience.abort(), true);
  try {
    const headers = { 'content-type': 'application/json', ...given };
    const response = await fetch(url, { ...init, headers, redirect: 'error', signal: patience.signal });
    const answer = (await response.json()) as { code?: LeaseErrorCode; detail?: string };
    if (response.ok) return answer;
    if (response.status === 401 && !hasToken)
      throw new LeaseError('UNAUTHORIZED', 'the server asks for a token: set HOLDFAST_TOKEN');
    throw new LeaseError(answer.code ?? 'STORE_UNAVAILABLE', answer.detail ?? `the server answered ${response.status}`);
  } catch (error) {
    if (error instanceof LeaseError) throw error;
    throw new LeaseError('STORE_UNAVAILABLE', 'the server does not answer as one of ours does: look at its address', {
      cause: error,
    });
  } finally {
    timer.cancel();
  }
}
