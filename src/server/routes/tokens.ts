// Tokens over HTTP (W3): made, listed and revoked by admins. The secret is in the answer to the making, and nowhere else.
import { parseDuration } from '../../domain/duration.js';
import { LIMITS } from '../../domain/limits.js';
import { tokenView } from '../access/index.js';
import { route, type Route } from '../route.js';
import { idParams } from '../schemas/common.js';
import { madeTokenSchema, tokenBody, tokenPage, tokenSchema } from '../schemas/tokens.js';
import { defined } from './answers.js';

const tag = 'tokens';
const LIFE = { name: 'expiresIn', minMs: 1_000, maxMs: 10 * LIMITS.maxHoldMs };

const list = route(
  {
    method: 'get',
    path: '/v1/tokens',
    operationId: 'listTokens',
    tag,
    summary: 'Tokens that stand, oldest first, without their secrets',
    role: 'admin',
    answers: { 200: { description: 'The tokens', schema: tokenPage } },
  },
  async ({ caller, request }, { access }) => request.json({ items: (await access.list(caller)).map(tokenView) }),
);

const create = route(
  {
    method: 'post',
    path: '/v1/tokens',
    operationId: 'createToken',
    tag,
    summary: 'Make a token; its secret is shown in this answer only',
    role: 'admin',
    body: tokenBody,
    answers: { 201: { description: 'The token', schema: madeTokenSchema } },
  },
  async (asked, { access }) => {
    const { expiresIn, ...wanted } = defined(asked.body);
    asked.note({ data: { made: wanted } });
    const expiresInMs = expiresIn === undefined ? undefined : parseDuration(expiresIn, LIFE);
    const { token, secret } = await access.create(asked.caller, { ...wanted, expiresInMs });
    asked.note({ data: { made: { id: token.id, ...wanted } } });
    return asked.request.json({ ...tokenView(token), secret }, 201);
  },
);

const revoke = route(
  {
    method: 'delete',
    path: '/v1/tokens/{id}',
    operationId: 'revokeToken',
    tag,
    summary: 'Revoke a token, by its id or its name; known everywhere within a second',
    role: 'admin',
    params: idParams,
    answers: { 200: { description: 'The token that was', schema: tokenSchema } },
  },
  async (asked, { access }) => {
    asked.note({ leaseId: undefined, data: { token: asked.params.id } });
    return asked.request.json(tokenView(await access.revoke(asked.caller, asked.params.id)));
  },
);

export const tokenRoutes: readonly Route[] = [list, create, revoke];
