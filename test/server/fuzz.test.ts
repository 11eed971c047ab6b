// A fuzz run of every route (W5): whatever is sent, the answer is a success or a refusal with a problem, never an error of the
// server's own, and afterwards it is as healthy as before. A failing run prints its seed.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { z } from '@hono/zod-openapi';
import { ROUTES } from '../../src/server/routes/index.js';
import type { Route } from '../../src/server/route.js';
import { portMethodNames } from '../../src/server/store/methods.js';
import { anyText, servedSite } from '../support/served-site.js';

const site = servedSite();
/** Streams end when their client goes: they are asked apart. */
const TESTED = ROUTES.filter(({ operationId }) => operationId !== 'followEvents');
const STREAMS = ['/v1/events', '/v1/store/hints'];
/** Of the port. The hints are a stream, above. */
const METHODS = portMethodNames();
const RUNS = 40;

const awkwardText = fc.oneof(
  fc.constantFrom(
    '',
    '..',
    'a/../b',
    '__proto__',
    'constructor',
    '%00',
    '\u0000',
    'ä',
    '\ud800',
    '9'.repeat(40),
    '-1',
    '1e99',
  ),
  fc.constantFrom('30s', '0', 'forever', 'orders/0', 'orders', 'ann', 'null', 'true', "'; DROP TABLE leases; --"),
  fc.string({ maxLength: 40, unit: 'binary' }),
  fc.string({ minLength: 500, maxLength: 3_000 }),
);
const awkwardValue: fc.Arbitrary<unknown> = fc.oneof(
  awkwardText,
  fc.integer({ min: -10, max: 100 }),
  fc.double(),
  fc.maxSafeInteger(),
  fc.boolean(),
  fc.constant(null),
  fc.array(awkwardText, { maxLength: 4 }),
  fc.jsonValue({ maxDepth: 3 }),
);

function fieldsOf(schema: unknown): string[] {
  const { shape } = (schema ?? {}) as { shape?: Record<string, z.ZodType> };
  return Object.keys(shape ?? {});
}

/** Fields that are there, with any value; now and then one that is not. A wait would only make the run slow. */
function inputFor(schema: unknown, value: fc.Arbitrary<unknown>): fc.Arbitrary<Record<string, unknown>> {
  const fields = fieldsOf(schema).filter((field) => field !== 'wait');
  const known =
    fields.length === 0 ? fc.constant({}) : fc.dictionary(fc.constantFrom(...fields), value, { maxKeys: 6 });
  const unknown = fc.dictionary(awkwardText, value, { maxKeys: 2 });
  return fc
    .tuple(known, fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, { weight: 1, arbitrary: unknown }))
    .map(([right, wrong]) => ({ ...right, ...wrong }));
}

function requestFor(route: Route): fc.Arbitrary<{ path: string; body: unknown }> {
  const params = fc.dictionary(fc.constantFrom(...fieldsOf(route.params), 'id'), awkwardText);
  const query = inputFor(route.query, awkwardText);
  const fixed = fieldsOf(route.body).includes('wait') ? { wait: 0 } : {};
  const body = fc.oneof(
    { weight: 6, arbitrary: inputFor(route.body, awkwardValue).map((given) => ({ ...given, ...fixed })) },
    { weight: 1, arbitrary: awkwardValue.filter((value) => value !== undefined) },
  );
  return fc.record({ params, query, body }).map((given) => {
    const path = route.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
      const text = given.params[name] ?? 'x';
      return encodeURIComponent(text.toWellFormed() === '' ? 'x' : text.toWellFormed());
    });
    const search = new URLSearchParams(
      Object.entries(given.query).map(([key, value]): [string, string] => [key, String(value)]),
    );
    const isLook = route.method === 'get';
    return {
      path: `${path}${search.size === 0 ? '' : `?${search.toString()}`}`,
      body: isLook ? undefined : given.body,
    };
  });
}

/** A value as the port takes it, or nearly: names that are there with awkward values. */
const nearly = fc.dictionary(
  fc.oneof(
    fc.constantFrom('id', 'epoch', 'requestId', 'owner', 'parts', 'ttlMs', 'limit', 'stream', 'from', 'after'),
    awkwardText,
  ),
  awkwardValue,
  { maxKeys: 6 },
);
const awkwardCall = fc.record(
  {
    method: fc.oneof({ weight: 5, arbitrary: fc.constantFrom(...METHODS) }, { weight: 1, arbitrary: awkwardText }),
    namespace: awkwardText,
    args: fc.array(fc.oneof(nearly, fc.array(nearly, { maxLength: 3 }), awkwardValue), { maxLength: 3 }),
  },
  { requiredKeys: ['method', 'args'] },
);

async function expectHealthy(): Promise<void> {
  expect(site.log.filter(({ level }) => level === 'error')).toEqual([]);
  expect(await site.ask('GET', '/readyz')).toMatchObject({ status: 200, json: { ready: true } });
  const lease = await site.ask('POST', '/v1/leases', { resource: 'healthy/after', owner: 'ann', wait: 0 });
  expect(lease.status).toBe(201);
}

test('W2, W5: every call of the port takes anything, alone and in a list, and so do the streams', async () => {
  const server = await site.start();
  await server.ready;
  await fc.assert(
    fc.asyncProperty(awkwardCall, async ({ method, ...call }) => {
      const name = encodeURIComponent(method.toWellFormed() || 'x');
      const answer = await site.ask('POST', `/v1/store/${name}`, call);
      const said = `${method} ${JSON.stringify(call)} -> ${answer.status} ${answer.text.slice(0, 300)}`;
      expect(answer.status < 500, said).toBe(true);
      if (answer.status >= 400) expect(answer.json, said).toMatchObject({ status: answer.status, code: anyText });
    }),
    { numRuns: METHODS.length * 15 },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(awkwardCall, { maxLength: 5 }), async (calls) => {
      const answer = await site.ask('POST', '/v1/batch', { calls });
      expect(answer.status < 500, `${JSON.stringify(calls)} -> ${answer.status} ${answer.text}`).toBe(true);
      expect(answer.text, JSON.stringify(calls)).not.toMatch(/"code":"INTERNAL"/);
    }),
    { numRuns: RUNS * 2 },
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...STREAMS), fc.dictionary(awkwardText, awkwardText), awkwardText, followOnce),
    { numRuns: RUNS },
  );
  await expectHealthy();
}, 240_000);

/** Asks for a stream and leaves as soon as its head is there. */
async function followOnce(stream: string, query: Record<string, string>, lastId: string): Promise<void> {
  const leaving = new AbortController();
  const search = new URLSearchParams(query);
  const seen = lastId.replaceAll(/[^\x21-\x7e]/g, '').slice(0, 200);
  const headers = seen === '' ? {} : { 'last-event-id': seen };
  const response = await fetch(`${site.server.url}${stream}?${search.toString()}`, { headers, signal: leaving.signal });
  expect(response.status, `${stream}?${search.toString()} ${seen}`).toBeLessThan(500);
  leaving.abort();
}

test('W5: every route takes anything and answers with nothing but successes and refusals', async () => {
  const server = await site.start();
  await server.ready;
  const statuses = new Map<number, number>();
  for (const route of TESTED) {
    await fc.assert(
      fc.asyncProperty(requestFor(route), async ({ path, body }) => {
        const answer = await site.ask(route.method.toUpperCase(), path, body);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        const said = `${route.method} ${path} ${JSON.stringify(body)} -> ${answer.status} ${answer.text.slice(0, 300)}`;
        expect(answer.status < 500, said).toBe(true);
        if (answer.status >= 400) expect(answer.json, said).toMatchObject({ status: answer.status, code: anyText });
        expect(answer.headers.get('content-security-policy'), said).toMatch(/default-src 'none'/);
      }),
      { numRuns: RUNS },
    );
  }
  expect([...statuses.keys()].filter((status) => status < 300)).not.toEqual([]);
  expect(statuses.get(400)).toBeGreaterThan(0);
  await expectHealthy();
});
