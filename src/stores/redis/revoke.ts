// A revocation (A7). By name or id it is one step. By owner it looks at everything that stands, a stretch a step (S18), until
// it has ended a thousand or seen all; one epoch is drawn for all of it, and what began after the order is never touched, so
// what others do between the steps changes nothing.
import { leaseAt, type Lease } from '../../domain/lease.js';
import { LIMITS } from '../../domain/limits.js';
import type { RevokeOrder } from '../../domain/requests.js';
import type { Revoked } from '../store.js';
import { noMoreEpochs } from './items.js';
import type { Answered } from './namespace.js';
import { decodeRow } from './row-text.js';

const FROM_THE_FIRST = '[n';

export async function revoke(step: (args: string[]) => Promise<Answered>, order: RevokeOrder): Promise<Revoked> {
  const [[kind, target] = ['', '']] = Object.entries<string>(order.target);
  const aim = [kind, target, String(order.upToEpoch), String(order.keepOutMs), order.reason, order.actor];
  const ended: Lease[] = [];
  let epoch = '0';
  for (let from = FROM_THE_FIRST; ;) {
    const { reply, rest } = await step([...aim, from, epoch, String(LIMITS.rowsPerStep - ended.length)]);
    const [drawn, more, texts, next] = rest as [string, number, string[], string];
    if (drawn === 'spent') throw noMoreEpochs();
    epoch = drawn;
    for (const text of texts) ended.push(leaseAt(decodeRow(text), reply.now));
    if (next === '') return { ...reply, ended, epoch: epoch === '0' ? undefined : Number(epoch), more: more === 1 };
    from = next;
  }
}
