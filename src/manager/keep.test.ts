// keep (A2): leader election in one call. Held again after every loss, with pauses that grow, until its signal aborts.
import { describe, expect, test } from 'vitest';
import { managerSite, watched, type ManagerSite } from '../../test/support/manager-site.js';
import { pause } from './ask-until-answered.js';
import type { HeldLease } from './face.js';

const TTL = 2_000;

interface Terms {
  readonly epochs: number[];
  readonly starts: number[];
  readonly lead: (lease: HeldLease) => Promise<void>;
}

/** A leader that works until its lease is lost, and ends as `onLoss` says. */
function leader(site: ManagerSite, onLoss: (lease: HeldLease) => void = () => undefined): Terms {
  const [epochs, starts]: number[][] = [[], []];
  const lead = async (lease: HeldLease): Promise<void> => {
    epochs?.push(lease.epoch);
    starts?.push(site.clock.monotonic());
    await new Promise<void>((resolve) => {
      lease.signal.addEventListener('abort', () => resolve());
    });
    onLoss(lease);
  };
  return { epochs: epochs ?? [], starts: starts ?? [], lead };
}
async function revoke({ truth }: ManagerSite): Promise<void> {
  const { epoch } = await truth.time();
  await truth.revoke({ target: { resource: 'lead' }, reason: 'r', actor: 'a', keepOutMs: 0, upToEpoch: epoch });
}

describe('A2: keep', () => {
  test.each<[string, ((lease: HeldLease) => void) | undefined]>([
    ['returns', undefined],
    [
      'throws the reason of its signal',
      ({ signal }) => {
        throw signal.reason;
      },
    ],
    ['throws by throwIfLost', (lease) => lease.throwIfLost()],
    [
      'throws an AbortError made of it',
      ({ signal }) => {
        throw new Error('The operation was aborted', { cause: signal.reason });
      },
    ],
  ])('holds again after a loss, when the work %s', async (_, onLoss) => {
    const site = await managerSite();
    const { epochs, lead } = leader(site, onLoss);
    const controller = new AbortController();
    const kept = watched(site.leases.keep('lead', { ttl: TTL, signal: controller.signal }, lead));
    await site.pass(100);
    for (let i = 0; i < 3; i += 1) {
      await revoke(site);
      await site.pass(3_000);
    }
    expect(epochs).toHaveLength(4);
    expect(epochs).toEqual(epochs.toSorted((a, b) => a - b));
    expect(kept.now().state).toBe('open');
    controller.abort();
    await site.pass(0);
    expect(kept.now().state).toBe('open'); // the work has not ended yet
    await revoke(site);
    await site.pass(3_000);
    expect(kept.now()).toEqual({ state: 'done', value: undefined });
    expect(await site.live()).toEqual([]);
  });

  test.each<[string, (lease: HeldLease) => void]>([
    ['throws by throwIfLost', (lease) => lease.throwIfLost()],
    [
      'wraps what throwIfLost throws',
      (lease) => {
        try {
          lease.throwIfLost();
        } catch (cause) {
          throw new Error('stopped', { cause });
        }
      },
    ],
  ])('A2: holds again after work that stopped in doubt, when it %s', async (_, look) => {
    for (const restoredMs of [0, 50]) {
      const site = await managerSite();
      const epochs: number[] = [];
      const controller = new AbortController();
      const lead = async (lease: HeldLease): Promise<void> => {
        epochs.push(lease.epoch);
        await pause(site.clock, 1_000);
        if (epochs.length > 1) return;
        site.clock.stepWall(60_000); // as after a suspend: the store is asked, and says yes a moment later
        try {
          look(lease);
        } catch (error) {
          if (restoredMs > 0) await pause(site.clock, restoredMs);
          expect(lease.isHeld).toBe(restoredMs > 0);
          throw error;
        }
      };
      const kept = watched(site.leases.keep('lead', { ttl: TTL, signal: controller.signal }, lead));
      await site.pass(1_500);
      expect([kept.now(), epochs.length]).toEqual([{ state: 'open' }, 2]);
      controller.abort();
      await site.pass(1_500);
      expect([kept.now().state, await site.live()]).toEqual(['done', []]);
    }
  });

  test('A2: the doubt of another lease, or a loss that is another’s, is an error of the work', async () => {
    const site = await managerSite();
    const other = await site.leases.acquire('other', { ttl: TTL });
    const kept = site.leases.keep('lead', { ttl: TTL }, async () => {
      site.clock.stepWall(60_000);
      other.throwIfLost();
    });
    await expect(kept).rejects.toMatchObject({ details: { leaseId: other.id, inDoubt: true } });
  });

  test('through a store that is gone for longer than the ttl', async () => {
    const site = await managerSite();
    const { epochs, lead } = leader(site);
    const controller = new AbortController();
    const kept = watched(site.leases.keep('lead', { ttl: TTL, signal: controller.signal }, lead));
    await site.pass(100);
    site.store.order({ fault: 'fail', times: Infinity });
    await site.pass(30_000);
    expect([epochs.length, kept.now().state]).toEqual([1, 'open']);
    site.store.heal();
    await site.pass(6_000);
    expect(epochs).toHaveLength(2);
  });

  test('waits its turn for as long as it takes, and is cancelled while it waits', async () => {
    const site = await managerSite();
    const other = await site.join({ owner: 'bob' });
    const leading = await other.leases.acquire('lead');
    const { epochs, lead } = leader(site);
    const controller = new AbortController();
    const kept = watched(site.leases.keep('lead', { ttl: TTL, signal: controller.signal }, lead));
    await site.pass(60_000);
    expect([epochs, (await site.live('pending')).length]).toEqual([[], 1]);
    controller.abort();
    await site.pass(0);
    expect([kept.now().state, (await site.live('pending')).length]).toEqual(['done', 0]);
    await leading.release();
  });

  test('work that ends by itself is done again, after pauses that grow to 5 s', async () => {
    const site = await managerSite();
    const starts: number[] = [];
    const controller = new AbortController();
    const kept = watched(
      site.leases.keep('lead', { signal: controller.signal }, async () => void starts.push(site.clock.monotonic())),
    );
    await site.pass(40_000);
    const pauses = starts.slice(1).map((at, i) => at - (starts[i] ?? 0));
    expect(pauses.length).toBeGreaterThan(8);
    pauses.forEach((pause, i) => {
      const bound = Math.min(100 * 2 ** i, 5_000);
      expect(pause).toBeGreaterThanOrEqual(bound / 2);
      expect(pause).toBeLessThanOrEqual(bound + 5);
    });
    controller.abort();
    await site.pass(0);
    expect([kept.now().state, site.clock.pendingTimers]).toEqual(['done', 0]);
  });

  test('an error of the work is the answer, and the lease is let go', async () => {
    const site = await managerSite();
    const error = new Error('cannot lead');
    await expect(site.leases.keep('lead', {}, () => Promise.reject(error))).rejects.toBe(error);
    expect(await site.live()).toEqual([]);
    const after = site.leases.keep('lead', {}, async () => {
      await revoke(site);
      await site.pass(20_000);
      throw error; // lost by then, but that is not what it says
    });
    await expect(after).rejects.toBe(error);
  });

  test('what can never come right is thrown: bad options, a shutdown', async () => {
    const site = await managerSite();
    const idle = async (): Promise<void> => undefined;
    await expect(site.leases.keep('lead', { ttl: -1 }, idle)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await expect(site.leases.keep('lead', {}, undefined as never)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
    await site.leases.acquire('lead');
    const kept = watched(site.leases.keep('lead', {}, idle));
    await site.pass(10);
    await site.leases.shutdown();
    await site.pass(0);
    expect(kept.now().error).toMatchObject({ code: 'SHUTTING_DOWN' });
  });

  test('a signal that aborts while the grant is told: the work is not begun, and the lease is let go', async () => {
    const site = await managerSite();
    const over = new AbortController();
    site.leases.on('lease.acquired', () => over.abort());
    let hasBegun = false;
    const kept = watched(site.leases.keep('lead', { signal: over.signal }, async () => void (hasBegun = true)));
    await site.pass(10);
    expect([kept.now().state, hasBegun, await site.live()]).toEqual(['done', false, []]);
  });

  test('a signal that was aborted before: it is over before it begins', async () => {
    const site = await managerSite();
    let ran = 0;
    await site.leases.keep('lead', { signal: AbortSignal.abort() }, async () => void (ran += 1));
    expect([ran, site.store.count()]).toEqual([0, 0]);
  });

  test('one of two leads at a time, and the other takes over', async () => {
    const site = await managerSite();
    const other = await site.join({ owner: 'bob' });
    const [mine, theirs] = [leader(site), leader(site)];
    const controllers = [new AbortController(), new AbortController()] as const;
    watched(site.leases.keep('lead', { ttl: TTL, signal: controllers[0].signal }, mine.lead));
    watched(other.leases.keep('lead', { ttl: TTL, signal: controllers[1].signal }, theirs.lead));
    await site.pass(5_000);
    expect([mine.epochs.length, theirs.epochs.length]).toEqual([1, 0]);
    site.store.freeze();
    await site.pass(4_000);
    expect([mine.epochs.length, theirs.epochs.length]).toEqual([1, 1]);
    expect(theirs.epochs[0]).toBeGreaterThan(mine.epochs[0] ?? 0);
  });
});
