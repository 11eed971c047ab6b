// Q1 over a recorded history: at each grant no live conflicting ticket was ahead, tickets counted as if granted. What a
// request held, and whether it reclaimed, is in the recorded requests; a grant nobody recorded asking for is skipped.
import { fits } from '../../domain/conflict.js';
import { mayWaitFor } from '../../domain/decide.js';
import type { LogRow } from '../../domain/events.js';
import { isAhead, LAST, type Place } from '../../domain/queue-order.js';
import type { AcquireRequest } from '../../domain/requests.js';
import { requestsIn, type History } from './history-records.js';
import { livesOf, numberIn, partsOf, rowText, transitionOf } from './history-rows.js';
import { Standing, type StandingTicket } from './history-standing.js';

export function checkQueue(history: History): string[] {
  const standing = new Standing(livesOf(history));
  const requests = requestsIn(history.records);
  const complaints: string[] = [];
  for (const [i, row] of history.log.entries()) {
    const change = transitionOf(row);
    const ticketId = change?.kind === 'upgraded' ? change.ticketId : change?.kind === 'granted' ? change.id : undefined;
    const request = ticketId === undefined ? undefined : requests.get(ticketId);
    if (change?.kind === 'queued') complaints.push(...checkTerms(row, i, requests.get(change.id)));
    // A reclaim goes ahead of the queue (A4).
    if (request !== undefined && !request.reclaim) {
      const parts = partsOf(row);
      const place: Place = standing.ticket(request.id) ?? LAST;
      const ahead = standing
        .tickets(parts, row.at)
        .filter((ticket) => ticket.id !== request.id && isAhead(ticket, place))
        .filter((ticket) => !isPassedOver(ticket, request, requests, standing, row.at));
      const leases = standing.leases(parts, row.at).filter(({ id }) => id !== row.leaseId);
      if (ahead.length > 0 && fits(parts, leases) && !fits(parts, [...leases, ...ahead])) {
        const passed = ahead.map((ticket) => `${ticket.id} (queued in row ${ticket.row + 1})`).join(', ');
        complaints.push(`Q1: ${rowText(row, i)} went past what was ahead of it in the queue: ${passed}`);
      }
    }
    standing.apply(row, i);
  }
  return complaints;
}

/** A ticket has the place that was asked for. */
function checkTerms(row: LogRow, i: number, request: AcquireRequest | undefined): string[] {
  const priority = numberIn(row, 'priority') ?? 0;
  if (request === undefined || priority === request.priority) return [];
  return [`Q1: ${rowText(row, i)} has priority ${priority}, its request asked for ${request.priority}`];
}

/** A ticket that itself waits for a lease the request is holding must let it go first. */
function isPassedOver(
  ticket: StandingTicket,
  request: AcquireRequest,
  requests: ReadonlyMap<string, AcquireRequest>,
  standing: Standing,
  at: number,
): boolean {
  const upgrading = requests.get(ticket.id)?.upgrades?.id;
  const held = request.upgrades ? [...request.holding, request.upgrades.id] : request.holding;
  return held.some((id) => {
    const lease = standing.lease(id, at);
    return lease !== undefined && upgrading !== id && mayWaitFor(ticket, lease);
  });
}
