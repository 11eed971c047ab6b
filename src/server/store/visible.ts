// What a caller sees of the port's answers (W3): records with the metadata their takers gave, and for a caller that is bound to
// a prefix nothing of what lies outside it. And failures of single items as they travel: a problem instead of an error.
import type { LogRow } from '../../domain/events.js';
import type { Lease } from '../../domain/lease.js';
import type { LeaseError } from '../../domain/errors.js';
import type { ManualQuery, StreamQuery } from '../../domain/sequence-requests.js';
import type { WaitStep } from '../../domain/wait-graph.js';
import type { Failed, Shown } from '../../stores/store.js';
import {
  mayRead,
  redactRefusal,
  visibleCycle,
  visibleGraph,
  visibleLease,
  visibleLeases,
  visibleManual,
  visibleStreams,
} from '../access/index.js';
import type { Caller } from '../context.js';
import { problemOf } from '../problem.js';

type Facts = Readonly<Record<string, unknown>>;

/** One result of a list. */
export function visibleResult(caller: Caller, result: object): object {
  const { outcome } = result as { outcome: string };
  if (outcome === 'failed' && 'error' in result) return failedItem((result as Failed).error);
  if ('lease' in result) {
    const { lease } = result as { lease: Lease };
    const seen = visibleLease(caller, lease);
    return seen === lease ? result : { ...result, lease: seen };
  }
  if (outcome === 'deadlock' && caller.prefix !== undefined) {
    const { cycle } = result as { cycle: readonly WaitStep[] };
    return { ...result, cycle: visibleCycle(caller.prefix, cycle) };
  }
  if ('handedTo' in result) return { ...result, handedTo: undefined }; // the next one's affair
  if (!('refusal' in result)) return result;
  const { refusal } = result as { refusal: Parameters<typeof redactRefusal<Lease, { holders: readonly Lease[] }>>[1] };
  return { ...result, refusal: redactRefusal(caller, refusal) };
}

export function failedItem(error: LeaseError): object {
  return { outcome: 'failed', problem: problemOf(error) };
}

/** A page over all streams is read until it has what the caller may see; anything else is asked once. */
export function askVisible(
  method: string,
  caller: Caller,
  args: readonly unknown[],
  ask: (args: readonly unknown[]) => Promise<object>,
): Promise<object> {
  const one = (query: object): Promise<never> => ask([query]) as Promise<never>;
  if (method === 'sequences.streams') return visibleStreams(caller, args[0] as StreamQuery, one);
  if (method === 'sequences.manualItems') return visibleManual(caller, args[0] as ManualQuery, one);
  return ask(args);
}

/** The answer of a method that takes no list. */
export function visibleAnswer(method: string, caller: Caller, answer: object): object {
  const see = VISIBLE[method];
  return see ? see(caller, answer as Facts) : answer;
}

const VISIBLE: Readonly<Record<string, (caller: Caller, answer: Facts) => object>> = {
  get: (caller, answer) => {
    const items = answer['items'] as readonly (Lease | undefined)[];
    return { ...answer, items: items.map((lease) => (lease && visibleLease(caller, lease)) ?? null) };
  },
  list: (caller, answer) => ({ ...answer, items: visibleLeases(caller, answer['items'] as readonly Lease[]) }),
  revoke: (caller, answer) => ({ ...answer, ended: visibleLeases(caller, answer['ended'] as readonly Lease[]) }),
  show: (caller, answer) => {
    const { holders, queue, history } = answer as unknown as Shown;
    return {
      ...answer,
      holders: visibleLeases(caller, holders),
      queue: visibleLeases(caller, queue),
      ...(caller.prefix === undefined ? {} : { holderCount: holders.length, queueLength: queue.length }),
      history: visibleRows(caller, history),
    };
  },
  events: (caller, answer) =>
    answer['outcome'] === 'rows'
      ? { ...answer, rows: visibleRows(caller, answer['rows'] as readonly LogRow[]) }
      : answer,
  waitGraph: (caller, answer) => ({ ...answer, ...visibleGraph(caller, answer as never) }),
};

/** Rows of the log; one that is partly outside keeps only the names inside, and of its facts only what names nobody. */
function visibleRows(caller: Caller, rows: readonly LogRow[]): readonly LogRow[] {
  if (caller.prefix === undefined) return rows;
  return rows.flatMap((row): LogRow[] => {
    const names = row.resources ?? (row.resource === undefined ? [] : [row.resource]);
    const inside = names.filter((name) => mayRead(caller, name));
    if (inside.length === 0) return [];
    const { cycle: _cycle, parts: _parts, ...data } = row.data;
    if (inside.length === names.length) return ['cycle' in row.data ? { ...row, data } : row];
    const { resources: _all, ...rest } = row;
    return [{ ...rest, resource: inside[0], ...(inside.length > 1 ? { resources: inside } : {}), data }];
  });
}
