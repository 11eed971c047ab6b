// Streams over HTTP (contract, section 7): numbers leased, committed or given up, and read in order. A client is the holder of
// what it leases; nothing is kept here. Reading seals what it shows, so it takes the role `write` unless it only peeks (N4).
import { parseDuration } from '../../domain/duration.js';
import { isoTime } from '../../domain/lease.js';
import { LIMITS } from '../../domain/limits.js';
import { lostNumber, otherLease, settledAlready, storedOtherwise, toSettled } from '../../sequence/outcomes.js';
import type { Answers } from '../../stores/store.js';
import { LeaseError } from '../../domain/errors.js';
import { ownerFor, requireNames, requireRole } from '../access/index.js';
import { route, type Route } from '../route.js';
import {
  commitBody,
  committedSchema,
  leasedNumbersSchema,
  leaseNumbersBody,
  readQuery,
  readSchema,
  releasedNumbersSchema,
  releaseNumbersBody,
  streamParams,
} from '../schemas/streams.js';
import type { Caller, ServerContext } from '../context.js';
import { foreignNumbers, refuseLeased } from '../store/number-owners.js';
import { askStreams, mayWrite } from './answers.js';

const tag = 'streams';
const TTL_MS = 120_000;
const TTL = { name: 'ttl', minMs: LIMITS.minTtlManualMs, maxMs: LIMITS.ttlMs };
const PAGE = 100;

const lease = route(
  {
    method: 'post',
    path: '/v1/streams/{stream}/lease',
    operationId: 'leaseNumbers',
    tag,
    summary: 'Reserve the next numbers for an operation; asking again gives the same ones',
    role: 'write',
    params: streamParams,
    body: leaseNumbersBody,
    answers: {
      201: { description: 'The numbers', schema: leasedNumbersSchema },
      409: { description: 'The operation is settled already, or is being recovered', isProblem: true },
    },
  },
  async ({ params: { stream }, body, caller, request, note }, context) => {
    requireNames(caller, [stream]);
    note({ resource: stream, data: { operationId: body.operationId } });
    const { operationId, kind, ttl = TTL_MS, count = 1 } = body;
    const owner = ownerFor(caller, body.owner) ?? caller.name;
    const asked = { stream, operationId, kind, count, owner, ttlMs: parseDuration(ttl, TTL) };
    await mayWrite(context, body.durability === 'accept-loss');
    const result = only(await askStreams(context, 'lease', (store) => store.lease([asked])));
    if (result.outcome === 'settled') throw settledAlready(asked, result.items);
    refuse(refuseLeased(caller, result));
    if (result.outcome === 'mismatch') throw otherLease(asked);
    if (result.outcome === 'recovering') throw recovering(stream, operationId, result.retryAfterMs);
    context.recovery.leased(context.store.namespace, stream);
    const { first, epoch, leasedAt, expiresAt, remainingMs, again } = result;
    const numbers = Array.from({ length: result.count }, (_, at) => first + at);
    const times = { leasedAt: isoTime(leasedAt), expiresAt: isoTime(expiresAt), remainingMs };
    return request.json({ first, count: result.count, numbers, operationId, epoch, ...times, again }, 201);
  },
);

function recovering(stream: string, operationId: string, retryAfterMs: number): LeaseError {
  const text = `operation ${operationId} of ${stream} is being recovered: ask again later`;
  return new LeaseError('ACQUIRE_TIMEOUT', text, { details: { stream, operationId, retryAfterMs } });
}

async function requireOwn(context: ServerContext, caller: Caller, method: string, item: object): Promise<void> {
  const { sequences } = context.store;
  if (sequences) refuse((await foreignNumbers(sequences, caller, method, [item])).get(item));
}

function refuse(refusal: LeaseError | undefined): void {
  if (refusal) throw refusal;
}

const commit = route(
  {
    method: 'post',
    path: '/v1/streams/{stream}/commit',
    operationId: 'commitNumbers',
    tag,
    summary: 'Store the operations of leased numbers and settle them, in one step',
    role: 'write',
    params: streamParams,
    body: commitBody,
    answers: {
      200: { description: 'Where the operation is stored', schema: committedSchema },
      409: { description: 'The lease of the numbers is lost, or other content is stored', isProblem: true },
    },
  },
  async ({ params: { stream }, body, caller, request, note }, context) => {
    requireNames(caller, [stream]);
    note({ resource: stream, data: { operationId: body.operationId } });
    const asked = { stream, ...body };
    await requireOwn(context, caller, 'commit', asked);
    const result = only(await askStreams(context, 'commit', (store) => store.commit([asked])));
    if (result.outcome === 'notHeld') throw lostNumber(asked, result);
    if (result.outcome === 'mismatch') throw storedOtherwise(asked);
    return request.json({ number: result.first, repeated: result.repeated });
  },
);

const release = route(
  {
    method: 'post',
    path: '/v1/streams/{stream}/release',
    operationId: 'releaseNumbers',
    tag,
    summary: 'Give leased numbers up: they become a gap',
    role: 'write',
    params: streamParams,
    body: releaseNumbersBody,
    answers: { 200: { description: 'Given up', schema: releasedNumbersSchema } },
  },
  async ({ params: { stream }, body, caller, request, note }, context) => {
    requireNames(caller, [stream]);
    note({ resource: stream, data: { operationId: body.operationId } });
    const asked = { stream, reason: 'released', ...body };
    const order = { ...asked, reason: asked.reason ?? 'released' };
    await requireOwn(context, caller, 'release', order);
    const result = only(await askStreams(context, 'release', (store) => store.release([order])));
    if (result.outcome === 'notHeld') throw lostNumber(asked, result);
    return request.json({ released: true, again: result.again });
  },
);

const read = route(
  {
    method: 'get',
    path: '/v1/streams/{stream}/numbers',
    operationId: 'readNumbers',
    tag,
    summary: 'Settled numbers in order, up to the watermark; `peek=true` shows without sealing',
    role: 'read',
    params: streamParams,
    query: readQuery,
    answers: { 200: { description: 'A page, without a hole', schema: readSchema } },
  },
  async ({ params: { stream }, query, caller, request }, context) => {
    requireNames(caller, [stream]);
    const { from = 1, limit = PAGE, peek = false } = query;
    if (!peek) requireRole(caller, 'write');
    const order = { stream, from, limit, seal: !peek, watch: false };
    const head = await askStreams(context, 'read', (store) => store.read(order));
    context.recovery.saw(context.store.namespace, stream, head);
    const { items, watermark, trimmedBefore } = head;
    const next = (items.at(-1)?.number ?? Math.max(from, trimmedBefore) - 1) + 1;
    return request.json({ items: items.map((item) => toSettled(item)), watermark, trimmedBefore, next });
  },
);

/** The answer to the one item that was asked. */
export function only<R extends object>({ results }: Answers<R>): R {
  const [result] = results as readonly (R | { outcome: 'failed'; error: LeaseError })[];
  if (result === undefined) throw new LeaseError('STORE_UNAVAILABLE', 'the store answered nothing: look at the store');
  if ('error' in result && 'outcome' in result && result.outcome === 'failed') throw result.error;
  return result as R;
}

export const streamRoutes: readonly Route[] = [lease, commit, release, read];
