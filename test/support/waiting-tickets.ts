// Tickets for tests of the wait-for graph: each is told only what matters there.
import type { WaitedLease, WaitingTicket } from '../../src/domain/wait-graph.js';

export const ticket = (id: string, changes: Partial<WaitingTicket> = {}): WaitingTicket => ({
  id,
  owner: `owner of ${id}`,
  resource: `wanted by ${id}`,
  arrival: 0,
  holding: [],
  waitsForLeases: [],
  waitsForTickets: [],
  ...changes,
});
export const lease = (id: string): WaitedLease => ({ id, owner: `holder of ${id}`, resource: `name of ${id}` });
