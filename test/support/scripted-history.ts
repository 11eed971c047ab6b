// A history that holds every kind of line, made by the memory store on a clock that is moved by hand: what the tests of the
// checkers change one line of.
import { normaliseParts, type Resources } from '../../src/domain/part.js';
import type { AcquireRequest } from '../../src/domain/requests.js';
import { MemoryStore } from '../../src/stores/memory/index.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { readHistory, readRecords, type History } from '../../src/testing/store-conformance/history-records.js';
import { WorkloadClient } from '../../src/testing/store-conformance/workload-client.js';

/** Everybody's calls go through one client, whose lines are the records; ids are names, padded. */
export class Script {
  readonly clock = new FakeClock();
  readonly store = new MemoryStore({ clock: this.clock });
  readonly lines: string[] = [];
  readonly client = new WorkloadClient(this.store, {
    clock: this.clock,
    name: 'everybody',
    dice: this.clock,
    record: (line) => void this.lines.push(line),
  });

  async acquire(id: string, owner: string, resources: Resources, more: Partial<AcquireRequest> = {}): Promise<void> {
    await this.pass(1);
    const parts = normaliseParts(resources);
    const rest = {
      priority: 0,
      join: true,
      holding: [],
      reclaim: false,
      maxRenewals: -1,
      minHoldMs: 0,
      lockDelayMs: 0,
    };
    const request = { id: long(id), bornAt: this.client.now, owner, parts, ttlMs: 60_000, remote: false, ...rest };
    await this.client.acquire([{ ...request, callerWall: 0, ...more }]);
  }
  async claim(id: string): Promise<void> {
    await this.pass(1);
    await this.client.acquire([this.client.tickets.get(long(id))!]);
  }
  async release(id: string): Promise<void> {
    await this.pass(1);
    const epoch = this.epoch(id);
    await this.client.end([{ id: long(id), epoch, requestId: this.clock.randomText(), why: 'released' }]);
  }
  epoch(id: string): number {
    return this.client.held.get(long(id))!.epoch;
  }
  async pass(ms: number): Promise<void> {
    await this.clock.advance(ms);
    await this.client.lookAtTime();
  }
}

export const long = (id: string): string => id.padEnd(16, '_');

/** Every kind of line there is, made by the memory store. */
export async function goodHistory(): Promise<History> {
  const all = new Script();
  const { client } = all;
  await all.store.setSettings({ history_renewals: true });
  await all.acquire('first', 'ann', 'orders');
  await all.acquire('second', 'bob', 'orders', { ttlMs: 1_000 });
  await all.acquire('third', 'cat', 'orders');
  await all.release('first');
  await all.claim('third'); // still behind the second
  await all.claim('second');
  await all.pass(1_000); // the second runs out
  await all.claim('third');
  await all.acquire('dead', 'dan', 'orders');
  await client.renew([{ id: long('third'), epoch: all.epoch('third'), requestId: 'renewal', callerWall: 0 }]);
  await all.pass(10_000); // nobody refreshes
  await all.release('third');
  await all.acquire('fourth', 'ann', 'orders');
  await all.acquire('refused', 'bob', 'orders', { join: false });

  await all.acquire('pool-1', 'ann', { name: 'pool', mode: 'shared', limit: 2 });
  await all.acquire('pool-2', 'bob', { name: 'pool', mode: 'shared', limit: 2 });
  await all.acquire('pool-3', 'cat', { name: 'pool', mode: 'shared', limit: 2 });
  await all.release('pool-2');
  await all.claim('pool-3');
  await all.release('pool-3');
  const upgrades = { id: long('pool-1'), epoch: all.epoch('pool-1') };
  await all.acquire('upgrade', 'ann', 'pool', { upgrades });
  const requestId = 'change';
  await client.change([{ kind: 'downgrade', id: long('pool-1'), epoch: all.epoch('pool-1'), requestId }]);
  await all.pass(1);
  const toOwner = 'eve';
  const [id, epoch] = [long('pool-1'), all.epoch('pool-1')];
  await client.change([{ kind: 'delegate', id, epoch, requestId: 'more', toOwner }]);

  await all.acquire('below', 'bob', 'tree/leaf');
  await all.release('below');
  await all.acquire('tree', 'ann', { name: 'tree', scope: 'subtree' });
  await client.revoke({
    target: { resource: 'tree' },
    reason: 'why not',
    actor: 'root',
    upToEpoch: client.epoch,
    keepOutMs: 0,
  });

  await all.acquire('held', 'ann', 'p');
  await all.acquire('waits', 'bob', ['p', 'q']);
  await all.acquire('past', 'ann', 'q', { holding: [long('held')] }); // the waiter waits for what this one holds

  await all.acquire('left', 'ann', 'm');
  await all.acquire('right', 'bob', 'n');
  await all.acquire('to-right', 'ann', 'n', { holding: [long('left')] });
  await all.acquire('to-left', 'bob', 'm', { holding: [long('right')] });
  await client.failTicket({ id: long('to-left'), cycle: [long('to-left'), long('to-right')] });
  await client.sweep({ limit: 100 });
  return { ...(await readHistory(all.store)), records: readRecords(all.lines) };
}
