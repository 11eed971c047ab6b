// A step of a program becomes a call: the dice pick among what the program has met so far, mostly what fits and now and
// then what does not.
import type { Claimed } from '../../../domain/sequence.js';
import type { Settlement } from '../../../domain/sequence-requests.js';
import type { SequenceStore } from '../../../stores/sequence-store.js';
import type { SequenceProgramStep } from './program-steps.js';

type Method = Exclude<keyof SequenceStore, 'subscribe' | 'commitIn' | 'doneIn'>;

/** One call of the port as data. */
export interface SequenceCall {
  readonly method: Method;
  readonly asked: unknown;
}

interface Lease {
  readonly stream: string;
  readonly operationId: string;
  readonly epoch: number;
  readonly count: number;
}

/** What a program has met. */
export class Met {
  readonly leases: Lease[] = [];
  readonly claims: Claimed[] = [];
  readonly cursors: { stream: string; reader: string; epoch: number }[] = [];
}

const STREAMS = ['orders', 'orders/eu'] as const;
const READERS = ['projection', 'audit'] as const;
const TTLS = [100, 1_000, 1_000, 60_000] as const;
const OPERATIONS = 8;
const MOST_NUMBERS = 12;

function pick<T>(list: readonly T[], die: number): T | undefined {
  return list.length === 0 ? undefined : list[die % list.length];
}

/** Undefined when there is nothing yet that such a step could be about. */
export function toSequenceCall({ op, client, dice }: SequenceProgramStep, met: Met): SequenceCall | undefined {
  const [a, b, c, d] = dice;
  const stream = pick(STREAMS, a % 3) ?? 'orders';
  const owner = `client-${client}`;
  const held = pick(met.leases.slice(-6), a);
  const claimed = pick(met.claims.slice(-3), a);
  const operationId = `op-${b % OPERATIONS}`;
  const operations = (count: number): unknown[] =>
    Array.from({ length: d % 17 === 0 ? count + 1 : count }, (_, i) => ({ v: c % 2, i }));
  const epochOf = (right: number): number => (d % 11 === 0 ? Math.max(1, right - 1) : right);
  switch (op) {
    case 'lease': {
      const count = d % 5 === 0 ? 1 + (d % 3) : 1;
      const kind = d % 13 === 0 ? 'other' : 'kind';
      return list('lease', { stream, operationId, kind, ttlMs: pick(TTLS, c), count, owner });
    }
    case 'commit':
      if (!held) return undefined;
      return list('commit', { ...name(held), epoch: epochOf(held.epoch), operations: operations(held.count) });
    case 'progress':
      if (!held) return undefined;
      return list('progress', {
        ...name(held),
        epoch: epochOf(held.epoch),
        progress: progressOf(b, c, operations(held.count)),
      });
    case 'release':
      if (!held) return undefined;
      return list('release', { ...name(held), epoch: epochOf(held.epoch), reason: 'given up' });
    case 'append': {
      const known = d % 3 === 0 ? undefined : held;
      const epoch = known && c % 2 === 0 ? known.epoch : undefined;
      const what = { operations: operations(known?.count ?? 1), kind: 'kind', owner, type: 'spool' };
      return list('append', { stream, operationId, ...(known ? name(known) : {}), ...what, epoch });
    }
    case 'fill': {
      const known = d % 5 === 0 ? undefined : held;
      const what = { number: 1 + (c % MOST_NUMBERS), operations: operations(known?.count ?? 1), owner };
      return list('fill', { stream, operationId, ...(known ? name(known) : {}), ...what });
    }
    case 'claim':
      return one('claim', {
        ...(a % 2 === 0 ? { stream } : {}),
        limit: 1 + (b % 3),
        owner,
        ttlMs: pick([500, 5_000], c),
        gapsToo: d % 2 === 0,
      });
    case 'renewClaims':
      if (!claimed) return undefined;
      return list('renewClaims', { ...name(claimed), claimEpoch: epochOf(claimed.claimEpoch), ttlMs: 1_000 });
    case 'settle': {
      if (!claimed) return undefined;
      const settlement = settlementOf(b, c, operations(claimed.count));
      return list('settle', { ...name(claimed), claimEpoch: epochOf(claimed.claimEpoch), settlement });
    }
    case 'read':
    case 'peek':
      return one('read', {
        stream,
        from: 1 + (b % MOST_NUMBERS),
        limit: 1 + (c % 8),
        seal: op === 'read',
        watch: d % 2 === 0,
      });
    case 'barrier':
      return one('barrier', { stream, number: 1 + (b % MOST_NUMBERS), watch: c % 2 === 0 });
    case 'open':
    case 'forget':
      return one('cursor', { stream, reader: pick(READERS, b), act: op });
    case 'done': {
      const cursor = pick(met.cursors.slice(-3), a);
      if (!cursor) return undefined;
      return one('cursor', { ...cursor, epoch: epochOf(cursor.epoch), act: 'done', number: 1 + (b % MOST_NUMBERS) });
    }
    case 'trim':
      return one('trim', { stream, before: 1 + (b % MOST_NUMBERS), limit: 1 + (c % 4) });
    case 'gaps':
      return one('gaps', { stream, after: b % 4, limit: 1 + (c % 3) });
    case 'manualItems': {
      const after = b % 3 === 0 ? { stream, number: c % 4 } : undefined;
      return one('manualItems', { ...(d % 2 === 0 ? { stream } : {}), after, limit: 1 + (c % 3) });
    }
    case 'manual':
      return one('manual', {
        stream,
        operationId,
        ...(claimed ? name(claimed) : {}),
        act: c % 2 === 0 ? 'retry' : 'discard',
        actor: owner,
      });
    case 'streams':
      return one('streams', b % 2 === 0 ? { stream, limit: 1 } : { limit: 1 + (c % 2) });
    case 'events':
    case 'pass':
      return undefined;
  }
}

function name({ stream, operationId }: { stream: string; operationId: string }): {
  stream: string;
  operationId: string;
} {
  return { stream, operationId };
}

function progressOf(b: number, c: number, operations: unknown[]): unknown {
  const all = [
    { what: 'look' },
    { what: 'renew', ttlMs: pick(TTLS, c) },
    { what: 'partial', work: { step: c } },
    { what: 'finished', operations },
    { what: 'finished', operations },
  ];
  return pick(all, b);
}

function settlementOf(b: number, c: number, operations: unknown[]): Settlement | undefined {
  const all: Settlement[] = [
    { to: 'commit' },
    { to: 'commit' },
    { to: 'move', operations, type: 'partial_work' },
    { to: 'gap', reason: 'nothing there', ...(c % 2 === 0 ? { againAfterMs: 500 } : {}) },
    { to: 'retry', error: 'no disk', afterMs: pick([0, 500], c) ?? 0 },
    { to: 'manual', reason: 'tried often', error: 'no disk' },
  ];
  return pick(all, b);
}

function list(method: Method, item: object): SequenceCall {
  return { method, asked: [item] };
}
function one(method: Method, asked: object): SequenceCall {
  return { method, asked };
}
