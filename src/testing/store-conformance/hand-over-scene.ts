// A scene for the cases of handing over (Q1): somebody holds a name, somebody waits for it and may be claimed for.
import assert from 'node:assert/strict';
import type { Lease } from '../../domain/lease.js';
import type { AcquireRequest } from '../../domain/requests.js';
import type { EndResult, HandedTo } from '../../stores/store.js';
import { expectOutcome, type CaseContext, type Client } from './context.js';

export const TICKET_LIVES_MS = 10_000;
export const AGE_MS = 2_000;
export const HANDS_OVER = { handsOver: true } as const;

/** A ticket that may be claimed for, a moment old. */
export async function queueUp({ passTime }: CaseContext, client: Client, wanted: object = {}): Promise<AcquireRequest> {
  const ticket = await client.queue({ name: 'a', join: true, handOver: true, ...wanted });
  await passTime(5);
  return ticket;
}

export function handedBy(result: EndResult): HandedTo {
  const { handedTo } = expectOutcome(result, 'released');
  assert.ok(handedTo, 'the release claims for the first in line');
  return handedTo;
}

export function notHandedBy(result: EndResult): void {
  assert.equal(expectOutcome(result, 'released').handedTo, undefined);
}

/** Somebody holds the name, somebody waits, and the first lets go when the ticket has the age. */
export async function handOver(context: CaseContext): Promise<{ ticket: AcquireRequest; before: Lease; after: Lease }> {
  const waiter = await context.anotherClient();
  const before = await context.grant('a');
  const ticket = await queueUp(context, waiter);
  await context.passTime(AGE_MS);
  const handed = handedBy(await context.release(before));
  const after = await context.record(ticket.id);
  assert.deepEqual(handed, { id: ticket.id, epoch: after.epoch });
  return { ticket, before, after };
}
