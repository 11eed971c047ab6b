// Pages of the log and of the list: what is asked, as the functions of the schema take it, and what they answer, as the port has it.
import type { EventQuery, ListFilter } from '../../domain/requests.js';
import type { Events, Listed, Reply } from '../store.js';
import { decodeLog, positionAt, spotOf, typeNumber, type LogColumns } from './log-codec.js';
import { decodeLease, statusCode, type RecordColumns } from './row-codec.js';

export type EventColumns =
  ['rows', rows: LogColumns[], e: number, s: number, more: boolean] | ['lost', oldestE: number, oldestS: number];

export function encodeQuery(query: EventQuery, namespace: string): readonly unknown[] {
  return [
    ...fromOf(query.backward ? query.before : query.after, namespace),
    query.backward ?? false,
    query.limit,
    query.resource,
    query.prefix,
    query.leaseId,
    query.owner,
    query.type === undefined ? undefined : typeNumber(query.type),
    wholeMs(query.since),
    wholeMs(query.until),
  ];
}

/** The columns are whole numbers of 64 bits: those that are not below a moment are not below the next whole one either. */
export function wholeMs(moment: number | undefined, round = Math.ceil): number | undefined {
  if (moment === undefined) return undefined;
  return Math.min(Math.max(round(moment), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER);
}

/** Whether a position was given, and which; one that is none of ours has no incarnation and is lost. */
export function fromOf(asked: string | undefined, namespace: string): readonly unknown[] {
  const spot = asked === undefined ? undefined : spotOf(asked, namespace);
  return [asked !== undefined, spot?.incarnation, spot?.e ?? 0, spot?.s ?? 0];
}

export function decodeEvents(body: EventColumns, reply: Reply, namespace: string): Events {
  const { incarnation } = reply;
  const position = (e: number, s: number): string => positionAt(namespace, { incarnation, e, s });
  if (body[0] === 'lost') return { ...reply, outcome: 'lost', oldest: position(body[1], body[2]) };
  const [outcome, rows, e, s, more] = body;
  const decoded = rows.map((one) => decodeLog(one, namespace, incarnation));
  return { ...reply, outcome, rows: decoded, next: position(e, s), more };
}

/** One more than asked for: it says whether there is another page. The cursor is the last pair handed out. */
export function encodeFilter(filter: ListFilter): readonly unknown[] {
  const { cursor = '', resource, prefix, owner, status, olderThanMs, limit } = filter;
  const cut = cursor.indexOf(':');
  const [afterId, afterName] = cut < 0 ? ['', ''] : [cursor.slice(0, cut), cursor.slice(cut + 1)];
  return [
    afterName,
    afterId,
    resource ?? prefix,
    resource === undefined && prefix !== undefined,
    resource === undefined ? undefined : prefix,
    owner,
    status === undefined ? undefined : statusCode(status),
    wholeMs(olderThanMs),
    limit + 1,
  ];
}

export function decodePage(found: readonly RecordColumns[], reply: Reply, limit: number): Listed {
  const items = found.slice(0, limit).map((one) => decodeLease(one, reply.now));
  const last = items.at(-1);
  if (last === undefined || found.length <= limit) return { ...reply, items };
  return { ...reply, items, cursor: `${last.id}:${last.parts[0]?.name ?? ''}` };
}
