// What of a record, an event, a refusal or an error a caller may see (W3). A prefix bounds names: a lease that is partly outside
// is shown with the parts inside and without its metadata; one that is wholly outside is not shown, and where it stands in
// the way it is told as a count. Metadata is always shown as its taker gave it.
import { LeaseError } from '../../domain/errors.js';
import { sentenceOf, type EventFacts, type LeaseEvent } from '../../domain/events.js';
import type { Part } from '../../domain/part.js';
import type { WaitGraph, WaitStep } from '../../domain/wait-graph.js';
import type { Caller } from '../context.js';
import { unwrapped } from './lease-metadata.js';
import { isWithin } from './rules.js';

interface Shown {
  readonly parts: readonly Part[];
  readonly metadata?: unknown;
}

/** A record or a lease as this caller sees it; undefined where it may see nothing of it. */
export function visibleLease<L extends Shown>({ prefix }: Caller, lease: L): L | undefined {
  if (prefix === undefined) return unwrapped(lease);
  const parts = lease.parts.filter(({ name }) => isWithin(prefix, name));
  if (parts.length === lease.parts.length) return unwrapped(lease);
  if (parts.length === 0) return undefined;
  const { metadata: _, ...rest } = lease;
  return { ...rest, parts } as unknown as L;
}

export function visibleLeases<L extends Shown>(caller: Caller, leases: readonly L[]): L[] {
  return leases.flatMap((lease) => visibleLease(caller, lease) ?? []);
}

/** Holders outside are counted, not named. */
export function redactRefusal<L extends Shown, R extends { readonly holders: readonly L[] }>(
  caller: Caller,
  refusal: R,
): R {
  return { ...refusal, holders: visibleLeases<L>(caller, refusal.holders) };
}

const HIDDEN = 'hidden';

/** Steps outside stay, so that a cycle is one, and name nobody. */
export function visibleCycle(prefix: string, cycle: readonly WaitStep[]): WaitStep[] {
  return cycle.map((step) =>
    isWithin(prefix, step.resource) ? step : { ticketId: HIDDEN, owner: HIDDEN, resource: HIDDEN, heldBy: HIDDEN },
  );
}

interface ErrorDetails {
  readonly refusal?: { readonly reason: string; readonly holders: readonly Shown[] };
  readonly cycle?: readonly WaitStep[];
}

/** An error whose sentence or facts name what the caller may not see, told anew. */
export function redactError(caller: Caller, error: LeaseError): LeaseError {
  const { refusal, cycle } = error.details as ErrorDetails;
  if (!refusal && !cycle) return error;
  const { prefix } = caller;
  const details: Record<string, unknown> = { ...error.details };
  let { message } = error;
  if (refusal) {
    details['refusal'] = redactRefusal(caller, refusal);
    const isOutside = refusal.holders.some(({ parts }) => parts.some(({ name }) => !isWithin(prefix, name)));
    if (isOutside) message = `not free: ${refusal.reason}`;
  }
  if (cycle && prefix !== undefined) {
    details['cycle'] = visibleCycle(prefix, cycle);
    message = 'deadlock: this request gave up its place; what is in your prefix is in `cycle`';
  }
  return new LeaseError(error.code, message, { details, retryable: error.retryable });
}

/** An event as this caller sees it; undefined where it is none of its business. */
export function visibleEvent<E extends LeaseEvent>(prefix: string | undefined, event: E): E | undefined {
  if (prefix === undefined) return event;
  const names = event.resources ?? (event.resource === undefined ? [] : [event.resource]);
  // What concerns the whole log or its store concerns every reader of it; other nameless events are for whom sees all names.
  if (names.length === 0) return /^(store|events)\./.test(event.type) ? event : undefined;
  const inside = names.filter((name) => isWithin(prefix, name));
  if (inside.length === 0) return undefined;
  const { cycle } = event.data as { cycle?: unknown };
  if (inside.length === names.length && !Array.isArray(cycle)) return event;
  return told(prefix, event, inside);
}

function told<E extends LeaseEvent>(prefix: string, event: E, inside: readonly string[]): E {
  const { cycle, parts } = event.data as { cycle?: readonly WaitStep[]; parts?: readonly Part[] };
  const data = {
    ...event.data,
    ...(parts ? { parts: parts.filter(({ name }) => isWithin(prefix, name)) } : {}),
    ...(cycle ? { cycle: visibleCycle(prefix, cycle) } : {}),
  };
  const { resources: _, sentence: __, ...rest } = event;
  const resources = inside.length > 1 ? { resources: inside } : {};
  const seen = { ...rest, resource: inside[0], ...resources, data };
  const facts = { ...seen, at: Date.parse(event.at) } as unknown as EventFacts;
  return { ...seen, sentence: sentenceOf(facts) } as unknown as E;
}

/** Tickets for names inside, and of what they wait for only what is inside. */
export function visibleGraph({ prefix }: Caller, { tickets }: WaitGraph): WaitGraph {
  if (prefix === undefined) return { tickets };
  const inside = tickets.filter(({ resource }) => isWithin(prefix, resource));
  const known = new Set(inside.map(({ id }) => id));
  const leases = <T extends { readonly resource: string }>(list: readonly T[]): T[] =>
    list.filter(({ resource }) => isWithin(prefix, resource));
  const queued = (ids: readonly string[]): string[] => ids.filter((id) => known.has(id));
  return {
    tickets: inside.map(({ waitsForOneOf: oneOf, ...ticket }) => ({
      ...ticket,
      waitsForLeases: leases(ticket.waitsForLeases),
      waitsForTickets: queued(ticket.waitsForTickets),
      ...(oneOf ? { waitsForOneOf: { leases: leases(oneOf.leases), tickets: queued(oneOf.tickets) } } : {}),
    })),
  };
}
