// A row of the log as the scripts write it (lua/transitions.ts says how) and as the port answers it.
import type { LogRow, StoredType } from '../../domain/events.js';
import { decodeCycle, decodeParts, statusOf } from './row-text.js';

const TYPES: Readonly<Record<string, StoredType>> = {
  Q: 'lease.queued',
  A: 'lease.acquired',
  N: 'lease.renewed',
  R: 'lease.released',
  E: 'lease.expired',
  K: 'lease.revoked',
  F: 'lease.failed',
  D: 'lease.delegated',
  U: 'lease.upgraded',
  W: 'lease.downgraded',
  X: 'deadlock.detected',
  L: 'sequence.leased',
  C: 'sequence.committed',
  G: 'sequence.gap',
  J: 'sequence.filled',
  M: 'sequence.moved',
  V: 'recovery.succeeded',
  Z: 'recovery.failed',
  I: 'store.incarnation',
};
const MARK = /[#$!%*]/;

export function decodeLog(text: string, id: string, namespace: string): LogRow {
  const [head = '', leaseId = '', owner = '', names = '', actor = '', reason = '', data = '', error = ''] =
    text.split('\n');
  const [letter = '', at, wallAt, epoch, change = '--'] = head.split(' ');
  const all = names.split('\u001f');
  return {
    type: TYPES[letter] as StoredType,
    resource: names === '' ? undefined : all[0],
    resources: all.length > 1 ? all : undefined,
    leaseId: given(leaseId),
    owner: given(owner),
    epoch: epoch === '0' ? undefined : Number(epoch),
    from: change[0] === '-' ? undefined : statusOf(change[0] ?? ''),
    to: change[1] === '-' ? undefined : statusOf(change[1] ?? ''),
    actor: given(actor),
    reason: given(reason),
    error: given(error),
    data: decodeData(data),
    id,
    at: Number(at),
    wallAt: Number(wallAt),
    namespace,
  };
}

function given(text: string): string | undefined {
  return text === '' ? undefined : text;
}

function decodeData(text: string): Record<string, unknown> {
  const data: Record<string, unknown> = {};
  for (const pair of text === '' ? [] : text.split('\t')) {
    const at = pair.search(MARK);
    data[pair.slice(0, at)] = decodeValue(pair[at] ?? '', pair.slice(at + 1));
  }
  return data;
}

function decodeValue(mark: string, text: string): unknown {
  if (mark === '#') return Number(text);
  if (mark === '!') return text === '1';
  if (mark === '%') return decodeParts(text);
  return mark === '*' ? decodeCycle(text) : text;
}
