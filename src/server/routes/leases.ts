// Leases over HTTP (W1): taken, looked at and changed by id and epoch. A waiting acquire ends with its client, its ticket with
// it; a grant whose answer could not be delivered is ended (S9). `remainingMs` is the store's: a client counts it from the
// moment it sent its request, and believes a grant it waited for only after a renewal (S7).
import type { Clock } from '../../domain/clock.js';
import { isoTime, toRecord } from '../../domain/lease.js';
import type { Resources } from '../../domain/part.js';
import type { EndResult } from '../../stores/store.js';
import { boundFilter, ownerFor, requireNames, requireReclaim, visibleLease, wrapMetadata } from '../access/index.js';
import { route, type Route } from '../route.js';
import { idParams, recordSchema } from '../schemas/common.js';
import {
  acquireBody,
  delegateBody,
  downgradeBody,
  grantedSchema,
  listQuery,
  recordPage,
  releaseBody,
  releasedSchema,
  renewBody,
  renewedSchema,
  upgradeBody,
} from '../schemas/leases.js';
import { defined, found, granted, namesOf, page, requireHeld, stayOf } from './answers.js';

const tag = 'leases';

const acquire = route(
  {
    method: 'post',
    path: '/v1/leases',
    operationId: 'acquireLease',
    tag,
    summary: 'Take a lease, waiting in the queue if asked to',
    role: 'write',
    body: acquireBody,
    answers: {
      201: { description: 'The lease', schema: grantedSchema },
      409: { description: 'Refused, or not free in time: `code` and `refusal` say why', isProblem: true },
    },
  },
  async (asked, context) => {
    const { body, caller, signal, request } = asked;
    const { resource, resources: several, holding = [], owner, metadata, ...options } = body;
    const resources = (several ?? resource ?? []) as Resources;
    requireNames(caller, namesOf(resources));
    if (options.reclaim === true) requireReclaim(caller);
    await requireHeld(context, caller, holding);
    asked.note({ resource: namesOf(resources)[0] });
    const order = {
      resources,
      holding,
      options: { ...defined(options), owner: ownerFor(caller, owner) ?? caller.name },
      metadata: wrapMetadata(caller, metadata),
    };
    const taken = await context.desk.acquire(order, stayOf(asked, body.wait, context));
    const { lease } = taken;
    asked.note({ leaseId: lease.id, owner: lease.owner });
    const takeBack = (): void => context.desk.takeBack(lease);
    await hearOut(context.clock);
    if (signal.aborted) takeBack();
    else signal.addEventListener('abort', takeBack, { once: true });
    request.header('location', `/v1/leases/${lease.id}`);
    return request.json(granted(caller, taken), 201);
  },
);

/** A client that hung up while its lease was granted has said so to the socket, which is read in the next turn of the loop: once the answer
 *  is written nobody can tell any more. The turn that is under way may have been past it already, so it is two. */
function hearOut(clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    clock.soon(() => clock.soon(resolve));
  });
}

const list = route(
  {
    method: 'get',
    path: '/v1/leases',
    operationId: 'listLeases',
    tag,
    summary: 'What is live now: leases and tickets, a page at a time',
    role: 'read',
    query: listQuery,
    answers: { 200: { description: 'A page', schema: recordPage } },
  },
  async ({ query, caller, request }, { leases }) =>
    request.json(page(caller, await leases.list(boundFilter(caller, defined(query))))),
);

const get = route(
  {
    method: 'get',
    path: '/v1/leases/{id}',
    operationId: 'getLease',
    tag,
    summary: 'One lease or ticket, also for a while after its end',
    role: 'read',
    params: idParams,
    answers: {
      200: { description: 'The record', schema: recordSchema },
      404: { description: 'Unknown, or forgotten', isProblem: true },
    },
  },
  async ({ params, caller, request }, { desk }) => {
    const { items } = await desk.ask('get', (store) => store.get([params.id]));
    const shown = items[0] && visibleLease(caller, toRecord(items[0]));
    return request.json(found(shown, `lease ${params.id}`));
  },
);

const renew = route(
  {
    method: 'post',
    path: '/v1/leases/{id}/renew',
    operationId: 'renewLease',
    tag,
    summary: 'Make a lease live longer',
    role: 'write',
    params: idParams,
    body: renewBody,
    answers: { 200: { description: 'Renewed', schema: renewedSchema } },
  },
  async ({ params, body, caller, request }, context) => {
    await requireHeld(context, caller, [params.id]);
    const { expiresAt, now, renewals, remainingMs } = await context.desk.renew({ ...params, ...body });
    return request.json({ expiresAt: isoTime(expiresAt), storeNow: isoTime(now), renewals, remainingMs });
  },
);

const release = route(
  {
    method: 'post',
    path: '/v1/leases/{id}/release',
    operationId: 'releaseLease',
    tag,
    summary: 'Give a lease back; no error when it is gone already',
    role: 'write',
    params: idParams,
    body: releaseBody,
    answers: { 200: { description: 'How it ended', schema: releasedSchema } },
  },
  async (asked, context) => {
    const { params, body, caller, request } = asked;
    await requireHeld(context, caller, [params.id]);
    const released = releasedOf(await context.desk.release({ ...params, ...body }));
    asked.note({ outcome: released.outcome });
    return request.json(released);
  },
);

function releasedOf(result: EndResult): { outcome: string; blockedMs?: number } {
  if (result.outcome === 'released') return { outcome: 'released', blockedMs: result.blockedMs };
  if (result.outcome === 'stale') return { outcome: 'superseded' };
  return { outcome: result.outcome === 'pinned' ? 'unknown' : 'already_ended' };
}

const delegate = route(
  {
    method: 'post',
    path: '/v1/leases/{id}/delegate',
    operationId: 'delegateLease',
    tag,
    summary: 'Hand a lease to another owner, under a new epoch',
    role: 'write',
    params: idParams,
    body: delegateBody,
    answers: { 200: { description: 'The lease as its new owner has it', schema: grantedSchema } },
  },
  async ({ params, body, caller, request }, context) => {
    const { requestId = context.desk.newRequestId(), ...rest } = body;
    await requireHeld(context, caller, [params.id]);
    const changed = await context.desk.change({ kind: 'delegate', ...params, ...rest, requestId });
    return request.json(granted(caller, changed));
  },
);

const downgrade = route(
  {
    method: 'post',
    path: '/v1/leases/{id}/downgrade',
    operationId: 'downgradeLease',
    tag,
    summary: 'Make an exclusive lease shared',
    role: 'write',
    params: idParams,
    body: downgradeBody,
    answers: { 200: { description: 'The lease, with the same id and epoch', schema: grantedSchema } },
  },
  async ({ params, body, caller, request }, context) => {
    const { requestId = context.desk.newRequestId(), epoch } = body;
    await requireHeld(context, caller, [params.id]);
    const changed = await context.desk.change({ kind: 'downgrade', ...params, epoch, requestId });
    return request.json(granted(caller, changed));
  },
);

const upgrade = route(
  {
    method: 'post',
    path: '/v1/leases/{id}/upgrade',
    operationId: 'upgradeLease',
    tag,
    summary: 'Make a shared lease exclusive, waiting for the others if asked to',
    role: 'write',
    params: idParams,
    body: upgradeBody,
    answers: { 200: { description: 'The same lease, exclusive, with a new epoch', schema: grantedSchema } },
  },
  async (asked, context) => {
    const { params, body, caller, request } = asked;
    const { epoch, wait, holding = [] } = body;
    await requireHeld(context, caller, [params.id, ...holding]);
    const order = { id: params.id, epoch, wait, holding };
    const upgraded = await context.desk.upgrade(order, stayOf(asked, wait, context));
    return request.json(granted(caller, upgraded));
  },
);

export const leaseRoutes: readonly Route[] = [acquire, list, get, renew, release, delegate, upgrade, downgrade];
