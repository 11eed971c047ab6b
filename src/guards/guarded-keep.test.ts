// keep (A2) whose work writes through a guard: the guard often knows of a loss before the next renewal does, and that is the
// loss of the lease, not a fault of the work.
import { describe, expect, test } from 'vitest';
import { managerSite, watched, type ManagerSite } from '../../test/support/manager-site.js';
import { pause } from '../manager/ask-until-answered.js';
import type { HeldLease } from '../manager/face.js';
import { memoryGate } from './memory-gate.js';

const TTL = 30_000;

/** Revoked, and taken and written by somebody else before the holder's next renewal. */
async function overtake(site: ManagerSite, gate: ReturnType<typeof memoryGate>): Promise<void> {
  const other = await site.join({ owner: 'bob' });
  await other.leases.revoke({ resource: 'lead', reason: 'r' });
  const lease = await other.leases.acquire('lead', { wait: 0 });
  await gate.claim(lease);
  await lease.release();
}

describe('A2, G4: keep, whose guard is the first to know', () => {
  test('holds again after a write that was refused', async () => {
    const site = await managerSite();
    const gate = memoryGate();
    const epochs: number[] = [];
    const controller = new AbortController();
    const work = async (lease: HeldLease): Promise<void> => {
      epochs.push(lease.epoch);
      while (!controller.signal.aborted) {
        await gate.claim(lease);
        await pause(site.clock, 50);
      }
    };
    const kept = watched(site.leases.keep('lead', { ttl: TTL, signal: controller.signal }, work));
    await site.pass(200);
    await overtake(site, gate);
    await site.pass(2_000);
    expect([kept.now().state, epochs.length]).toEqual(['open', 2]);
    controller.abort();
    await site.pass(1_000);
    expect(kept.now().state).toBe('done');
  });

  test('but the loss of another lease is an error of the work', async () => {
    const site = await managerSite();
    const gate = memoryGate();
    const other = await site.leases.acquire('lead');
    await overtake(site, gate);
    const kept = watched(site.leases.keep('mine', { ttl: TTL }, async () => gate.claim(other)));
    await site.pass(200);
    expect(kept.now().error).toMatchObject({ code: 'STALE_EPOCH', details: { leaseId: other.id } });
    expect((await site.live()).map(({ owner }) => owner)).toEqual([]);
  });
});
