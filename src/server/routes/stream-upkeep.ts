// Keeping streams over HTTP (C8): their figures, gaps, readers, trimming, and what waits for a person.
import { isoTime } from '../../domain/lease.js';
import { LeaseError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type { ManualItem, StreamFigures } from '../../domain/sequence.js';
import { storedOtherwise, toStreamGap } from '../../sequence/outcomes.js';
import { actorOf, ownerFor, requireNames, visibleStreams } from '../access/index.js';
import type { Caller, ServerContext } from '../context.js';
import { route, type Route } from '../route.js';
import {
  fillBody,
  filledSchema,
  gapPage,
  gapsQuery,
  manualBody,
  manualPage,
  manualSchema,
  readerPage,
  readerParams,
  streamPage,
  streamParams,
  streamSchema,
  streamsQuery,
  trimBody,
  trimmedSchema,
} from '../schemas/streams.js';
import { askStreams, defined, found, mayWrite, missing } from './answers.js';
import { only } from './streams.js';

const tag = 'streams';
const PAGE = 100;
const MOST_TRIM_STEPS = 1_000;

function shown({ oldestOpen, readers, ...figures }: StreamFigures): object {
  const open = oldestOpen && {
    ...oldestOpen,
    leasedAt: isoTime(oldestOpen.leasedAt),
    expiresAt: isoTime(oldestOpen.expiresAt),
    dueAt: isoTime(oldestOpen.dueAt),
  };
  const readersShown = readers.map(({ movedAt, ...reader }) => ({ ...reader, movedAt: isoTime(movedAt) }));
  return { ...figures, ...(open === undefined ? {} : { oldestOpen: open }), readers: readersShown };
}

async function figuresOf(context: ServerContext, caller: Caller, stream: string): Promise<StreamFigures> {
  requireNames(caller, [stream]);
  const { streams } = await askStreams(context, 'streams', (store) => store.streams({ stream, limit: 1 }));
  return found(streams[0], `stream ${stream}`);
}

const list = route(
  {
    method: 'get',
    path: '/v1/streams',
    operationId: 'listStreams',
    tag,
    summary: 'Every stream with its figures, in order of their names; `after` goes on',
    role: 'read',
    query: streamsQuery,
    answers: { 200: { description: 'A page', schema: streamPage } },
  },
  async ({ query, caller, request, signal }, context) => {
    const wanted = { after: query.after, limit: query.limit ?? PAGE };
    const { streams, more } = await visibleStreams(caller, wanted, async (asked) => {
      const page = await askStreams(context, 'streams', (store) => store.streams(asked));
      return { ...page, more: page.more && !signal.aborted }; // nobody is there any more to read on for
    });
    return request.json({ items: streams.map(shown), more });
  },
);

const show = route(
  {
    method: 'get',
    path: '/v1/streams/{stream}',
    operationId: 'showStream',
    tag,
    summary: 'One stream: what is open, gaps, readers',
    role: 'read',
    params: streamParams,
    answers: { 200: { description: 'Its figures', schema: streamSchema } },
  },
  async ({ params, caller, request }, context) => request.json(shown(await figuresOf(context, caller, params.stream))),
);

const gaps = route(
  {
    method: 'get',
    path: '/v1/streams/{stream}/gaps',
    operationId: 'listGaps',
    tag,
    summary: 'Numbers that were given up, and why',
    role: 'read',
    params: streamParams,
    query: gapsQuery,
    answers: { 200: { description: 'A page', schema: gapPage } },
  },
  async ({ params: { stream }, query, caller, request }, context) => {
    requireNames(caller, [stream]);
    const asked = { stream, after: query.after ?? 0, limit: query.limit ?? PAGE };
    const page = await askStreams(context, 'gaps', (store) => store.gaps(asked));
    return request.json({ items: page.gaps.map(toStreamGap), more: page.more });
  },
);

const fill = route(
  {
    method: 'post',
    path: '/v1/streams/{stream}/fill',
    operationId: 'fillGap',
    tag,
    summary: 'Store the operation of a gap, at its number or, when it was shown, at a new one',
    role: 'write',
    params: streamParams,
    body: fillBody,
    answers: { 200: { description: 'Where it is stored', schema: filledSchema } },
  },
  async ({ params: { stream }, body, caller, request, note }, context) => {
    requireNames(caller, [stream]);
    const { number, operationId, operations } = body;
    note({ resource: stream, data: { number, operationId } });
    const asked = { stream, number, operationId, operations, owner: ownerFor(caller, body.owner) ?? caller.name };
    await mayWrite(context, body.durability === 'accept-loss');
    const result = only(await askStreams(context, 'fill', (store) => store.fill([asked])));
    if (result.outcome === 'stored') return request.json({ number: result.first, how: result.how });
    if (result.outcome === 'mismatch') throw storedOtherwise(asked);
    const text = `number ${number} of ${stream} is no gap: it is ${result.state}`;
    throw new LeaseError('SEQUENCE_SETTLED', text, { details: { stream, number, state: result.state } });
  },
);

const readers = route(
  {
    method: 'get',
    path: '/v1/streams/{stream}/readers',
    operationId: 'listReaders',
    tag,
    summary: 'Who reads a stream, and how far behind',
    role: 'read',
    params: streamParams,
    answers: { 200: { description: 'The readers', schema: readerPage } },
  },
  async ({ params, caller, request }, context) => {
    const { readers: all } = await figuresOf(context, caller, params.stream);
    return request.json({ items: all.map(({ movedAt, ...reader }) => ({ ...reader, movedAt: isoTime(movedAt) })) });
  },
);

const forget = route(
  {
    method: 'delete',
    path: '/v1/streams/{stream}/readers/{reader}',
    operationId: 'forgetReader',
    tag,
    summary: 'This reader is gone: it keeps nothing from being trimmed',
    role: 'admin',
    params: readerParams,
    answers: { 200: { description: 'Forgotten', schema: manualSchema } },
  },
  async ({ params: { stream, reader }, caller, request, note }, context) => {
    requireNames(caller, [stream]);
    note({ resource: stream, data: { reader } });
    const order = { stream, reader, act: 'forget' } as const;
    const { outcome } = await askStreams(context, 'cursor', (store) => store.cursor(order));
    if (outcome === 'unknown') throw missing(`reader ${reader} of ${stream}`);
    return request.json({ outcome });
  },
);

const trim = route(
  {
    method: 'post',
    path: '/v1/streams/{stream}/trim',
    operationId: 'trimStream',
    tag,
    summary: 'Remove operations that every reader is done with',
    role: 'admin',
    params: streamParams,
    body: trimBody,
    answers: { 200: { description: 'How many', schema: trimmedSchema } },
  },
  async ({ params: { stream }, body, caller, request, note, signal }, context) => {
    requireNames(caller, [stream]);
    note({ resource: stream, data: { before: body.before } });
    const order = { stream, before: body.before, limit: LIMITS.rowsPerStep };
    let removed = 0;
    let trimmedBefore = 0;
    for (let step = 0; step < MOST_TRIM_STEPS && !signal.aborted; step += 1) {
      const reply = await askStreams(context, 'trim', (store) => store.trim(order));
      removed += reply.removed;
      ({ trimmedBefore } = reply);
      if (!reply.more) break;
    }
    return request.json({ removed, trimmedBefore });
  },
);

const manualList = route(
  {
    method: 'get',
    path: '/v1/streams/{stream}/manual',
    operationId: 'listManual',
    tag,
    summary: 'What recovery could not settle by itself',
    role: 'read',
    params: streamParams,
    query: gapsQuery,
    answers: { 200: { description: 'A page', schema: manualPage } },
  },
  async ({ params: { stream }, query, caller, request }, context) => {
    requireNames(caller, [stream]);
    const after = query.after === undefined ? undefined : { stream, number: query.after };
    const asked = { stream, after, limit: query.limit ?? PAGE };
    const { items, more } = await askStreams(context, 'manualItems', (store) => store.manualItems(asked));
    const shownItem = ({ createdAt, ...item }: ManualItem): object => ({
      ...defined(item),
      createdAt: isoTime(createdAt),
    });
    return request.json({ items: items.map(shownItem), more });
  },
);

const manualAct = route(
  {
    method: 'post',
    path: '/v1/streams/{stream}/manual',
    operationId: 'settleManual',
    tag,
    summary: 'Try an operation again, or give it up',
    role: 'admin',
    params: streamParams,
    body: manualBody,
    answers: { 200: { description: 'What came of it', schema: manualSchema } },
  },
  async ({ params: { stream }, body, caller, request, note }, context) => {
    requireNames(caller, [stream]);
    note({ resource: stream, data: body });
    const order = { stream, ...body, actor: actorOf(caller) };
    const result = await askStreams(context, 'manual', (store) => store.manual(order));
    if (result.outcome === 'unknown') throw missing(`operation ${body.operationId} in the manual queue`);
    return request.json({ outcome: result.outcome, ...(result.outcome === 'stored' ? { number: result.first } : {}) });
  },
);

export const streamUpkeepRoutes: readonly Route[] = [
  ...[list, show, gaps, fill, readers, forget],
  ...[trim, manualList, manualAct],
];
