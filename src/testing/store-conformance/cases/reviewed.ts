// What a review of the first stores found and no other case had asked: blocks lifted whoever wrote them down, bad items
// of any shape, objects a caller changes after the call, late requests, and positions beyond the end of the log.
import assert from 'node:assert/strict';
import type { LogRow } from '../../../domain/events.js';
import type { AcquireRequest, ChangeRequest, EndRequest, RenewRequest } from '../../../domain/requests.js';
import type { Answers, Failed } from '../../../stores/store.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectError, expectOutcome, expectRejection } from '../context.js';
import { node, shared } from '../parts.js';

/** The bad items fail alone; the good one, last, has this outcome. */
function onlyLastStands({ results }: Answers<{ readonly outcome: string }>, outcome: string): void {
  const bad = results.slice(0, -1);
  assert.equal(results.at(-1)?.outcome, outcome);
  for (const one of bad) {
    assert.equal(one.outcome, 'failed');
    expectError((one as Failed).error, 'INVALID_ARGUMENT');
  }
}

const NOTHINGS = [null, undefined, 7, 'text'];
/** Past any row that could be there, whatever the store counts by. */
const FAR_KEY = '9999999999999';

export const reviewed: readonly ConformanceCase[] = [
  ...[false, true].flatMap((isSwept) =>
    [false, true].map((isDrawn): ConformanceCase => ({
      tags: ['A7', 'Q6', 'S3'],
      title: `revoking the resource lifts the block of an expiry ${isSwept ? 'that was swept' : 'nobody wrote down'}, ${isDrawn ? 'with' : 'without'} epochs drawn since the order`,
      run: async ({ grant, refuse, revoke, passTime, shortTtlMs, store }) => {
        const { epoch: upToEpoch } = await grant({ name: 'a', ttlMs: shortTtlMs, lockDelayMs: 60_000 });
        if (isDrawn) await grant('other');
        await passTime(shortTtlMs);
        if (isSwept) assert.equal((await store.sweep({ limit: 10 })).leases, 1);
        assert.equal((await refuse('a')).reason, 'lock_delay');
        assert.deepEqual((await revoke({ resource: 'a' }, { upToEpoch })).ended, []);
        await grant('a');
      },
    })),
  ),
  {
    tags: ['A7', 'S2'],
    title: 'a revocation that only lifts a block draws an epoch; repeated, it spares a ticket that joined afterwards',
    run: async ({ grant, release, queue, revoke, record, store }) => {
      const held = await grant('b');
      await release(await grant({ name: 'a', minHoldMs: 60_000 }));
      const { epoch: upToEpoch } = await store.time();
      const lifted = await revoke({ resource: 'a' }, { upToEpoch });
      assert.equal(lifted.epoch, upToEpoch + 1);
      assert.equal((await store.time()).epoch, upToEpoch + 1);
      const ticket = await queue({ parts: [node('a'), node('b')] });
      const repeated = await revoke({ resource: 'a' }, { upToEpoch });
      assert.deepEqual([repeated.ended, repeated.epoch], [[], undefined]);
      assert.equal((await record(ticket.id)).status, 'pending');
      await release(held);
      await grant(ticket);
    },
  },
  {
    tags: ['S5', 'S21'],
    title: 'a change of an unknown kind is invalid and changes nothing',
    run: async ({ grant, record, events, store }) => {
      const { id, epoch } = await grant('a');
      const [before, log] = [await record(id), await events()];
      for (const kind of ['', 'upgrade', 'Delegate', 'toString', undefined, 1]) {
        const request = { kind, id, epoch, requestId: 'r', toOwner: 'thief' } as unknown as ChangeRequest;
        const good: ChangeRequest = { kind: 'downgrade', id, epoch: epoch - 1, requestId: 'stale' };
        onlyLastStands(await store.change([request, good]), 'notHeld');
      }
      assert.deepEqual([await record(id), await events()], [before, log]);
    },
  },
  {
    tags: ['S21', 'S5'],
    title: 'an item that is no object fails alone, in every list',
    run: async ({ ask, grant, record, store }) => {
      const { id, epoch } = await grant('a');
      const authority = { id, epoch, requestId: 'r' };
      const bad = <Q>(): Q[] => NOTHINGS as unknown as Q[];
      onlyLastStands(await store.acquire([...bad<AcquireRequest>(), await ask('b')]), 'granted');
      onlyLastStands(await store.renew([...bad<RenewRequest>(), { ...authority, callerWall: 0 }]), 'renewed');
      onlyLastStands(await store.change([...bad<ChangeRequest>(), { ...authority, kind: 'downgrade' }]), 'changed');
      onlyLastStands(await store.end([...bad<EndRequest>(), { ...authority, why: 'released' }]), 'released');
      assert.equal((await record(id)).status, 'released');
    },
  },
  {
    tags: ['S5', 'S18'],
    title: 'failTicket with something else than a list of ids is invalid',
    run: async ({ grant, queue, record, newId, store }) => {
      await grant('a');
      const { id } = await queue('a');
      const tooLong = Array.from({ length: 1_001 }, () => id);
      for (const cycle of [undefined, null, id, {}, [null], [id, 7], [id, 'short'], tooLong]) {
        const order = { id, cycle } as { id: string; cycle: string[] };
        await expectRejection(store.failTicket(order), 'INVALID_ARGUMENT');
      }
      await expectRejection(store.failTicket({ id: 'short', cycle: [id, newId()] }), 'INVALID_ARGUMENT');
      assert.equal((await record(id)).status, 'pending');
    },
  },
  {
    tags: ['S6'],
    title: 'what a caller does to rows it read, or to a request it sent, changes nothing in the store',
    run: async ({ grant, queue, release, record, events, newId, store }) => {
      const lease = await grant({ parts: [node('a'), shared('b', 2)] });
      const log = await events();
      const kept = structuredClone(log);
      for (const row of log) spoil((row.data as { parts?: unknown }).parts);
      assert.notDeepEqual(log, kept, 'the row of a set shows its parts');
      assert.deepEqual((await record(lease.id)).parts, lease.parts);
      assert.deepEqual(await events(), kept, 'the log as it was');
      await grant('c');
      const holding = [lease.id];
      const { id } = await queue({ name: 'c', owner: 'reader', holding });
      holding[0] = newId();
      holding.push(newId());
      const waiting = (await store.waitGraph()).tickets.find((one) => one.id === id);
      assert.deepEqual(waiting?.holding, [lease.id]);
      expectOutcome(await release(lease), 'released');
      const released = (await events({ leaseId: lease.id })).at(-1) as LogRow;
      assert.deepEqual(released.resources, ['a', 'b']);
    },
  },
  {
    tags: ['S5', 'Q5'],
    title: 'a downgrade repeated after an upgrade is late: it is not answered again, and undoes nothing',
    run: async ({ grant, change, record }) => {
      const lease = await grant('file');
      expectOutcome(await change(lease, 'downgrade', 'once'), 'changed');
      const upgraded = await grant({ parts: [node('file')], upgrades: { id: lease.id, epoch: lease.epoch } });
      const late = expectOutcome(await change(lease, 'downgrade', 'once'), 'notHeld');
      assert.deepEqual([late.status, late.epoch], ['active', upgraded.epoch]);
      assert.deepEqual((await record(lease.id)).parts, [node('file')]);
      const anew = expectOutcome(await change(upgraded, 'downgrade', 'once'), 'changed');
      assert.deepEqual([anew.again, anew.lease.parts], [false, [shared('file')]]);
    },
  },
  {
    tags: ['S5', 'A7'],
    title: 'ending a ticket that was revoked answers revoked, with an epoch or without',
    run: async ({ grant, queue, revoke, release, cancel }) => {
      const { epoch } = await grant('a');
      const { id } = await queue('a');
      await revoke({ leaseId: id });
      expectOutcome(await release({ id, epoch }), 'revoked');
      expectOutcome(await release({ id, epoch: epoch + 1 }), 'revoked');
      expectOutcome(await cancel(id), 'revoked');
    },
  },
  {
    tags: ['H1'],
    title: 'a position beyond the end of the log is lost in both directions, and shows nothing of another namespace',
    run: async ({ grant, inNamespace, store, events }) => {
      await grant('a');
      for (const name of ['before', 'neighbour']) await inNamespace(name).grant('theirs');
      await grant('b');
      const rows = await events();
      const real = (rows.at(-1) as LogRow).id;
      const beyond = real.replace(/[^!]*$/, FAR_KEY);
      assert.notEqual(beyond, real);
      for (const query of [{ after: beyond }, { backward: true, before: beyond }]) {
        const answer = await store.events({ ...query, limit: 100 });
        const { oldest } = expectOutcome(answer, 'lost');
        assert.deepEqual(await events({ after: oldest }), rows);
      }
      await grant('c');
      assert.equal((await events({ after: real })).length, 1, 'a real one goes on as before');
    },
  },
];

/** Overwrites what it can; what is frozen is as good as a copy. */
function spoil(parts: unknown): void {
  for (const part of Array.isArray(parts) ? (parts as object[]) : []) Reflect.set(part, 'name', 'spoiled');
}
