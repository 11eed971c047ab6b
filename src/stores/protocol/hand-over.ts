// Handing over (Q1): a release that claims for the first in line, in its own step.
//
//   released ──the first who waits for what was freed left it to others to claim, and would be granted now──▶ that one is active
//            ──anybody else, or nobody──▶ woken, as ever (wake.ts)
//
// It is that one's own claim, a message earlier: the same question, the same row and log row, the next epoch. Only how long it lasts is
// the ticket's: until it would have died, unless its owner renews. So whoever has died while it waited is in the way of the others for no
// longer than a dead ticket is (Q2). Whoever was not reached hears of it at its next refresh, as of a lost wake-up (Q3); that is the claim
// it would have been, and renews it (acquire.ts).
import { decide } from '../../domain/decide.js';
import { isEpoch, nextEpoch } from '../../domain/epoch.js';
import { isWaiting } from '../../domain/expiry.js';
import type { LeaseRow } from '../../domain/lease.js';
import { isPlain, type Part } from '../../domain/part.js';
import type { HandedTo } from '../store.js';
import type { Handing, Step } from './rows.js';
import { grant, writeExpiries } from './transitions.js';
import { wokenFor } from './wake.js';

/** The lease that came of what this step has freed `since`. Nobody need be woken for its name then. */
export function handOver(step: Step, handing: Handing, since: number): HandedTo | undefined {
  const freed = step.freed.slice(since);
  const [first] = wokenFor(step.rows, freed, step.now);
  const ticket = first === undefined ? undefined : step.rows.find(first);
  if (!ticket || !mayBeHanded(ticket, step.now) || !handing.isMeant(ticket)) return undefined;
  const { id, owner, parts, expiresAt, skewMs } = ticket;
  const claim = { id, owner, parts, place: ticket, heldRows: [] };
  const overlapping = step.rows.overlapping(parts);
  if (!decide(claim, overlapping, step.now).free || !isEpoch(step.space.epoch + 1)) return undefined;
  writeExpiries(step, parts, overlapping);
  step.space.epoch = nextEpoch(step.space.epoch);
  grant(step, ticket, Math.min(step.now + ticket.ttlMs, expiresAt), true);
  const { epoch } = ticket;
  step.freed.splice(since, freed.length, ...freed.filter((part) => !isTaken(part, parts)));
  handing.done.push({ id, epoch, acquiredAt: step.now, expiresAt: ticket.expiresAt, skewMs });
  return { id, epoch };
}

function isTaken({ name, scope }: Part, by: readonly Part[]): boolean {
  return scope === 'node' && by.some((part) => part.name === name);
}

/** On the usual terms; what is bounded in other ways counts from a claim of its own. */
function mayBeHanded(ticket: LeaseRow, now: number): boolean {
  const { priority, maxRenewals, maxHoldMs, minHoldMs, lockDelayMs, holding, upgrades, remote } = ticket;
  const isUsual =
    priority === 0 && maxRenewals === -1 && maxHoldMs === undefined && minHoldMs === 0 && lockDelayMs === 0;
  const isAlone = holding.length === 0 && upgrades === undefined && !remote && isPlain(ticket.parts);
  return ticket.handOver === true && isUsual && isAlone && isWaiting(ticket, now) && ticket.arrivedAt < now;
}
