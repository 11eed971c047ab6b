// The OpenAPI document (W1): it passes a validator, it names every route there is, and a client that knows nothing but the
// document takes a lease with it.
import { Validator } from '@seriousme/openapi-schema-validator';
import { beforeEach, expect, test } from 'vitest';
import { ROUTES } from '../../src/server/routes/index.js';
import { matching, servedSite } from '../support/served-site.js';

const site = servedSite();

beforeEach(async () => {
  await (
    await site.start()
  ).ready;
});

interface Operation {
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: 'path' | 'query' }[];
  readonly requestBody?: { readonly content: Record<string, unknown> };
}
interface Document {
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Record<string, Record<string, Operation>>;
}
type Input = Record<string, unknown>;
type Call = (input?: Input) => Promise<{ status: number; json: Input }>;

/** A function for each operation: what is named in the path or the query goes there, the rest is the body. */
function clientOf(document: Document, base: string): Record<string, Call> {
  const calls: Record<string, Call> = {};
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, { operationId, parameters = [], requestBody }] of Object.entries(methods)) {
      calls[operationId] = async (input = {}) => {
        const url = new URL(document.servers[0]?.url ?? '', base);
        const rest = new Map(Object.entries(input));
        let filled = path;
        for (const { name, in: place } of parameters) {
          const value = rest.get(name);
          rest.delete(name);
          if (value === undefined) continue;
          if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value as string));
          else url.searchParams.set(name, value as string);
        }
        url.pathname = filled;
        const [type] = Object.keys(requestBody?.content ?? {});
        const response = await fetch(url, {
          method: method.toUpperCase(),
          ...(type === undefined
            ? {}
            : { headers: { 'content-type': type }, body: JSON.stringify(Object.fromEntries(rest)) }),
        });
        return { status: response.status, json: (await response.json()) as Record<string, unknown> };
      };
    }
  }
  return calls;
}

test('W1: the OpenAPI document is valid and names every route', async () => {
  const { status, json } = await site.ask('GET', '/openapi.json');
  expect(status).toBe(200);
  const checked = await new Validator().validate(json as unknown as Record<string, unknown>);
  expect(checked.errors).toBeUndefined();
  expect(checked.valid).toBe(true);
  const named = Object.entries((json as unknown as Document).paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method} ${path}`),
  );
  expect(named).toEqual(expect.arrayContaining(ROUTES.map(({ method, path }) => `${method} ${path}`)));
  expect(named).toEqual(expect.arrayContaining(['post /v1/batch', 'get /healthz', 'get /readyz']));
  const ids = Object.values((json as unknown as Document).paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  expect(new Set(ids).size).toBe(ids.length);
});

test('W1: a client made from the document alone takes a lease, renews it and gives it back', async () => {
  const { json: document } = await site.ask('GET', '/openapi.json');
  const client = clientOf(document as unknown as Document, site.server.url);
  const call = (name: string, input?: Record<string, unknown>): ReturnType<Call> => {
    const found = client[name];
    if (!found) throw new Error(`the document has no operation ${name}`);
    return found(input);
  };
  const { status, json } = await call('acquireLease', { resource: 'orders/0', owner: 'generated', ttl: '30s' });
  expect(status).toBe(201);
  const { id, epoch } = json;
  expect(await call('renewLease', { id, epoch })).toMatchObject({ status: 200, json: { renewals: 1 } });
  expect(await call('listLeases', { prefix: 'orders' })).toMatchObject({
    json: { items: [{ id, owner: 'generated' }] },
  });
  expect(await call('releaseLease', { id, epoch })).toMatchObject({ status: 200, json: { outcome: 'released' } });
});

test('W1: every schema of the document is closed to the fields it does not name', async () => {
  const refused = await site.ask('POST', '/v1/leases', { resource: 'a', tll: '30s' });
  expect(refused).toMatchObject({
    status: 400,
    json: { code: 'INVALID_ARGUMENT', detail: matching(/tll/) },
  });
  expect(await site.ask('GET', '/v1/leases?prefx=a')).toMatchObject({ status: 400 });
  expect(await site.ask('GET', '/v1/time?x=1')).toMatchObject({ status: 400 });
});
