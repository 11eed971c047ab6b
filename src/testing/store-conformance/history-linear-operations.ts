// From records to operations, and from operations to groups that have nothing to do with each other. An operation is one
// item of a call, with the moments it was sent and answered; without an answer its end is open: it may take effect at any
// later time, or never. Linearizability is a property of each group by itself, so each is searched by itself.
import type { AcquireRequest, ChangeRequest, EndRequest, RenewRequest, RevokeOrder } from '../../domain/requests.js';
import type { AcquireResult, ChangeResult, EndResult, RenewResult } from '../../stores/store.js';
import type { CallRecord } from './history-records.js';
import { touch } from './history-linear-rules.js';

interface Seen {
  readonly client: string;
  readonly sent: number;
  /** Infinity: no answer. */
  readonly received: number;
  /** The store clock of the answer. */
  readonly now?: number | undefined;
  /** The item before it in the same call, which acted before it. */
  readonly after?: Operation | undefined;
}
interface Of<Op extends string, Asked, Result> extends Seen {
  readonly op: Op;
  readonly asked: Asked;
  readonly result?: Result | undefined;
}
export type Operation =
  | Of<'acquire', AcquireRequest, AcquireResult>
  | Of<'renew', RenewRequest, RenewResult>
  | Of<'end', EndRequest, EndResult>
  | Of<'change', ChangeRequest, ChangeResult>
  | Of<'revoke', RevokeOrder & { readonly id: string }, { readonly ended: readonly string[]; readonly epoch?: number }>;

export interface Operations {
  readonly operations: readonly Operation[];
  /** Calls the specification has no rule for. */
  readonly strange: readonly string[];
}

export function operationsIn(records: readonly CallRecord[]): Operations {
  const operations: Operation[] = [];
  const strange: string[] = [];
  for (const record of records) {
    const why = strangeness(record);
    if (why !== undefined) strange.push(`${record.client}, ${record.op}: ${why}`);
    else operations.push(...itemsOf(record));
  }
  return { operations, strange };
}

/** What the specification does not speak of: blocks, reclaims, nested leases, revocations by name. */
function strangeness(record: CallRecord): string | undefined {
  if (record.op === 'sweep') return undefined;
  if (record.op === 'failTicket') return 'a ticket is failed by a monitor';
  if (record.op === 'revoke')
    return 'leaseId' in record.asked.target && record.asked.keepOutMs === 0 ? undefined : 'by name';
  if (record.op !== 'acquire') return undefined;
  const odd = record.asked.find(
    (one) => one.reclaim || one.minHoldMs > 0 || one.lockDelayMs > 0 || one.holding.length > 0 || one.maxHoldMs,
  );
  return odd && `${odd.id} has terms that the specification does not know`;
}

function itemsOf(record: CallRecord): Operation[] {
  const { client, sent, now } = record;
  const isAnswered = record.answer !== undefined && record.received !== undefined;
  const seen = { client, sent, received: isAnswered ? record.received : Infinity, now };
  if (record.op === 'sweep' || record.op === 'failTicket') return [];
  if (record.op === 'revoke') {
    const id = 'leaseId' in record.asked.target ? record.asked.target.leaseId : '';
    const answer = record.answer;
    const result = answer && {
      ended: answer.ended.map((one) => one.id),
      ...(answer.epoch ? { epoch: answer.epoch } : {}),
    };
    return [{ ...seen, op: 'revoke', asked: { ...record.asked, id }, result }];
  }
  const items: Operation[] = [];
  for (const [i, asked] of record.asked.entries()) {
    const result = record.answer?.results[i];
    if (result?.outcome === 'failed') continue; // refused as it stood: it changed nothing
    items.push({ ...seen, op: record.op, asked, result, after: items.at(-1) } as Operation);
  }
  return items;
}

/** Operations that touch a name in common, or an id in common, directly or over others, are one group. */
export function groupsOf(operations: readonly Operation[]): Operation[][] {
  const parent = new Map<string, string>();
  const root = (key: string): string => {
    let at = key;
    for (let up = parent.get(at); up !== undefined && up !== at; up = parent.get(at)) at = up;
    parent.set(key, at);
    return at;
  };
  const join = (a: string, b: string): void => void parent.set(root(a), root(b));
  const named = new Map<string, { readonly name: string; readonly scope: 'node' | 'subtree' }>();
  for (const operation of operations) {
    const own = `id ${operation.asked.id}`;
    root(own);
    if (operation.op !== 'acquire') continue;
    if (operation.asked.upgrades) join(own, `id ${operation.asked.upgrades.id}`);
    for (const { name, scope } of operation.asked.parts) {
      named.set(`${scope} ${name}`, { name, scope });
      join(own, `${scope} ${name}`);
    }
  }
  const places = [...named];
  for (const [key, place] of places) for (const [other, its] of places) if (touch(place, its)) join(key, other);
  const groups = new Map<string, Operation[]>();
  for (const operation of operations) {
    const key = root(`id ${operation.asked.id}`);
    const group = groups.get(key);
    if (group) group.push(operation);
    else groups.set(key, [operation]);
  }
  return [...groups.values()];
}

/** `client-3 acquire 7f… of room-1: granted, epoch 12 (at 1045)` */
export function operationText(operation: Operation): string {
  const { client, op, asked, result, now } = operation;
  const names =
    operation.op === 'acquire'
      ? ` on ${operation.asked.parts.map(({ name, scope, mode }) => `${name}${scope === 'subtree' ? '/**' : ''} ${mode}`).join(', ')}`
      : '';
  const epoch = 'epoch' in asked && asked.epoch !== undefined ? ` with epoch ${asked.epoch}` : '';
  return `${client}: ${op} ${asked.id}${names}${epoch} → ${result === undefined ? 'no answer' : `${resultText(result)} (at ${String(now)})`}`;
}

function resultText(result: NonNullable<Operation['result']>): string {
  if (!('outcome' in result)) return `ended ${result.ended.join(', ') || 'nothing'}`;
  if ('lease' in result) {
    const { epoch, expiresAt } = result.lease;
    return `${result.outcome}${result.again ? ' before' : ''}, epoch ${epoch}, until ${expiresAt}`;
  }
  if (result.outcome === 'refused' || result.outcome === 'queued') {
    const { reason, holderCount, queueLength } = result.refusal;
    return `${result.outcome}: ${reason}, ${holderCount} holders, ${queueLength} waiting`;
  }
  if (result.outcome === 'renewed') return `renewed until ${result.expiresAt}, ${result.renewals} times in all`;
  if (result.outcome === 'notHeld' || result.outcome === 'ended') return `${result.outcome}: ${result.status}`;
  return result.outcome === 'stale' ? `stale: it has epoch ${result.epoch}` : result.outcome;
}
