// A row as the scripts keep it (lua/row-text.ts says how) and as the rest of the store knows it. What was asked is written
// here, once, and stays as it is; the numbers before it are the scripts' own.
import type { LeaseStatus } from '../../domain/expiry.js';
import type { LeaseRow } from '../../domain/lease.js';
import type { Part } from '../../domain/part.js';
import { rankOf } from '../../domain/queue-order.js';
import type { AcquireRequest } from '../../domain/requests.js';
import type { WaitStep } from '../../domain/wait-graph.js';

const STATUSES: Readonly<Record<string, LeaseStatus>> = {
  p: 'pending',
  a: 'active',
  A: 'active',
  r: 'released',
  e: 'expired',
  k: 'revoked',
  f: 'failed',
};
const NONE = '-';

export function statusOf(letter: string): LeaseStatus {
  return STATUSES[letter] as LeaseStatus;
}

export function encodeParts(parts: readonly Part[]): string {
  return parts
    .map(
      ({ name, scope, mode, limit }) =>
        `${mode === 'shared' ? 's' : 'x'}${scope === 'subtree' ? 't' : 'n'}${limit ?? ''}:${name}`,
    )
    .join('\u001f');
}

export function decodeParts(text: string): Part[] {
  return text === '' ? [] : text.split('\u001f').map(decodePart);
}

function decodePart(text: string): Part {
  const colon = text.indexOf(':');
  const part = {
    name: text.slice(colon + 1),
    scope: text[1] === 't' ? 'subtree' : 'node',
    mode: text[0] === 's' ? 'shared' : 'exclusive',
  } as const;
  return colon > 2 ? { ...part, limit: Number(text.slice(2, colon)) } : part;
}

/** The third line of a row. */
export function encodeAsked(
  request: AcquireRequest,
  content: number,
  metadata = '',
  terms = encodeTerms(request),
): string {
  const { id, owner, parts, operationId = '' } = request;
  return `${id}\t${owner}\t${encodeParts(parts)}\t${content}\t${terms}\t${operationId}\t${metadata}`;
}

/** The same, behind the name of a plain request: no terms. */
export function encodePlainEnd({ operationId = '' }: AcquireRequest, content: number, metadata = ''): string {
  return `${content}\t\t${operationId}\t${metadata}`;
}

/** Empty where all of them are the usual ones. */
export function encodeTerms(request: AcquireRequest): string {
  const { priority, maxRenewals, maxHoldMs, minHoldMs, lockDelayMs, remote, upgrades, holding } = request;
  const isUsual =
    priority === 0 &&
    maxRenewals === -1 &&
    maxHoldMs === undefined &&
    minHoldMs === 0 &&
    lockDelayMs === 0 &&
    !remote &&
    upgrades === undefined &&
    holding.length === 0;
  if (isUsual) return '';
  const bounds = `${priority} ${maxRenewals} ${maxHoldMs ?? NONE} ${minHoldMs} ${lockDelayMs}`;
  return `${bounds} ${remote ? 1 : 0} ${upgrades?.id ?? NONE} ${holding.join()}`;
}

/** A lease that was released as it stood has that written before its row. */
const RELEASED = /^r(\d+) A (.*?) 0 \S*\n/;

export function decodeRow(text: string): LeaseRow {
  const [head = '', rare = '', asked = ''] = text.replace(RELEASED, 'r $2 $1 \n').split('\n');
  const [status = '', ...figures] = head.split(' ');
  const [epoch, expiresAt, acquiredAt, renewedAt, renewals, skewMs, ttlMs, arrival, endedAt] = figures.map(
    Number,
  ) as Figures;
  const [id, owner, parts, content, terms, operationId, metadata] = asked.split('\t') as Asked;
  const seldom = decodeRare(rare, epoch, acquiredAt);
  const agreed = decodeTerms(terms);
  return {
    id,
    content: Number(content),
    owner,
    parts: decodeParts(parts),
    status: statusOf(status),
    epoch,
    ttlMs,
    acquiredAt,
    renewedAt,
    expiresAt,
    endedAt: endedAt === 0 ? undefined : endedAt,
    renewals,
    skewMs,
    operationId: operationId === '' ? undefined : operationId,
    metadata: metadata === '' ? undefined : (JSON.parse(metadata) as unknown),
    arrival,
    rank: rankOf(seldom.arrivedAt, agreed.priority),
    lastRequest: figures[9] === '' ? undefined : figures[9],
    ...seldom,
    ...agreed,
  };
}

type Figures = [number, number, number, number, number, number, number, number, number];
type Asked = [string, string, string, string, string, string, string];
type Seldom = Pick<
  LeaseRow,
  | 'grantEpoch'
  | 'arrivedAt'
  | 'joinedEpoch'
  | 'blockedUntil'
  | 'keepOutUntil'
  | 'blockEpoch'
  | 'becameEpoch'
  | 'reason'
  | 'cycle'
>;
type Agreed = Pick<
  LeaseRow,
  'priority' | 'maxRenewals' | 'maxHoldMs' | 'minHoldMs' | 'lockDelayMs' | 'remote' | 'upgrades' | 'holding'
>;

function decodeRare(text: string, epoch: number, acquiredAt: number): Seldom {
  if (text === '') {
    return {
      grantEpoch: epoch,
      arrivedAt: acquiredAt,
      joinedEpoch: 0,
      blockedUntil: 0,
      keepOutUntil: 0,
      blockEpoch: 0,
    };
  }
  const [figures = '', reason = '', cycle = ''] = text.split('\t');
  const [grantEpoch, arrivedAt, joinedEpoch, blockedUntil, keepOutUntil, blockEpoch, becameEpoch] = figures
    .split(' ')
    .map(Number) as [number, number, number, number, number, number, number];
  return {
    grantEpoch,
    arrivedAt,
    joinedEpoch,
    blockedUntil,
    keepOutUntil,
    blockEpoch,
    becameEpoch: becameEpoch === 0 ? undefined : becameEpoch,
    reason: reason === '' ? undefined : reason,
    cycle: cycle === '' ? undefined : decodeCycle(cycle),
  };
}

const USUAL: Agreed = {
  priority: 0,
  maxRenewals: -1,
  maxHoldMs: undefined,
  minHoldMs: 0,
  lockDelayMs: 0,
  remote: false,
  upgrades: undefined,
  holding: [],
};

function decodeTerms(text: string): Agreed {
  if (text === '') return USUAL;
  const [priority, maxRenewals, maxHoldMs, minHoldMs, lockDelayMs, remote, upgrades, holding] = text.split(' ');
  return {
    priority: Number(priority),
    maxRenewals: Number(maxRenewals),
    maxHoldMs: maxHoldMs === NONE ? undefined : Number(maxHoldMs),
    minHoldMs: Number(minHoldMs),
    lockDelayMs: Number(lockDelayMs),
    remote: remote === '1',
    upgrades: upgrades === NONE ? undefined : upgrades,
    holding: holding === undefined || holding === '' ? [] : holding.split(','),
  };
}

/** Steps divided by \u001f, their fields by \u001e. */
export function decodeCycle(text: string): WaitStep[] {
  return text.split('\u001f').map((step) => {
    const [ticketId = '', owner = '', resource = '', heldBy = ''] = step.split('\u001e');
    return { ticketId, owner, resource, heldBy };
  });
}
