// Long lines for one name. Stores take short ways through the usual steps of a line, or remember who stands in it; whatever is
// unusual about a line, and whoever else writes to it, the answers must be those of the one rule (Q1).
import assert from 'node:assert/strict';
import type { AcquireRequest } from '../../../domain/requests.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome, type Client } from '../context.js';
import { node, shared, subtree } from '../parts.js';

const LONG = 24;

async function line({ queue }: Pick<Client, 'queue'>, name: string, count = LONG): Promise<AcquireRequest[]> {
  const requests: AcquireRequest[] = [];
  for (let i = 0; i < count; i += 1) requests.push(await queue(name));
  return requests;
}

/** Every one of these, asked again, is in this place. */
async function expectPlaces(client: Client, requests: readonly AcquireRequest[], first = 1): Promise<void> {
  for (const [i, request] of requests.entries()) {
    const { place, refusal } = expectOutcome(await client.acquire(request), 'queued');
    assert.deepEqual([place, refusal.queueLength], [first + i, first + i - 1]);
  }
}

export const longLines: readonly ConformanceCase[] = [
  {
    tags: ['Q1', 'S6'],
    title: 'each is told its place and who holds, is served in turn, and the log says both',
    run: async (client) => {
      const { grant, ask, acquire, release, events, lastNow } = client;
      let held = await grant('hot');
      const waiting: AcquireRequest[] = [];
      for (let i = 0; i < LONG; i += 1) {
        waiting.push(await ask({ name: 'hot', join: true }));
        const { place, refusal } = expectOutcome(await acquire(waiting[i] as AcquireRequest), 'queued');
        assert.deepEqual([place, refusal.queueLength, refusal.reason, refusal.holderCount], [i + 1, i, 'held', 1]);
        assert.deepEqual(
          refusal.holders.map(({ id, epoch, expiresAt }) => [id, epoch, expiresAt]),
          [[held.id, held.epoch, held.expiresAt]],
        );
      }
      for (const [i, next] of waiting.entries()) {
        await release(held);
        const second = waiting[i + 1];
        if (second) {
          const { place, refusal } = expectOutcome(await acquire(second), 'queued');
          assert.deepEqual([place, refusal.reason, refusal.holderCount], [2, 'queue', 0]);
        }
        const before = held.epoch;
        held = await grant(next);
        assert.ok(held.epoch > before && held.acquiredAt === lastNow());
      }
      const rows = await events({ resource: 'hot' });
      const places = rows.filter(({ type }) => type === 'lease.queued').map(({ data }) => data['place']);
      assert.deepEqual(
        places,
        waiting.map((_, i) => i + 1),
      );
      const grants = rows.filter(({ type, from }) => type === 'lease.acquired' && from === 'pending');
      assert.deepEqual(
        grants.map(({ leaseId }) => leaseId),
        waiting.map(({ id }) => id),
      );
    },
  },
  {
    tags: ['Q1', 'S9'],
    title: 'who leaves, from the front, the middle or the end, makes room for everybody behind',
    run: async (client) => {
      const { grant, release, cancel, queue } = client;
      const held = await grant('hot');
      const waiting = await line(client, 'hot');
      for (const at of [0, 11, LONG - 3]) await cancel(waiting.splice(at, 1)[0]?.id ?? '');
      await expectPlaces(client, waiting);
      const last = await queue('hot');
      await expectPlaces(client, [...waiting, last]);
      await release(held);
      await grant(waiting[0] as AcquireRequest);
    },
  },
  {
    tags: ['Q1', 'S13'],
    title: 'two clients write to one line in turn, and each sees what the other did',
    run: async (client) => {
      const other = await client.anotherClient();
      let held = await client.grant('hot');
      const waiting = await line(client, 'hot', 12);
      for (let i = 0; i < 12; i += 1) waiting.push(await (i % 2 === 0 ? other : client).queue('hot'));
      await expectPlaces(other, waiting);
      await other.cancel(waiting.splice(5, 1)[0]?.id ?? '');
      await expectPlaces(client, waiting);
      for (let i = 0; i < 10; i += 1) {
        const [one, two] = i % 2 === 0 ? [other, client] : [client, other];
        await one.release(held);
        held = await two.grant(waiting.shift() as AcquireRequest);
        await expectPlaces(one, waiting.slice(0, 3));
      }
      assert.deepEqual(
        (await other.store.list({ status: 'active', limit: 10 })).items.map(({ id }) => id),
        [held.id],
      );
    },
  },
  {
    tags: ['S3', 'Q1'],
    title: 'a holder that lapses is written down by the first in line, once',
    run: async (client) => {
      const { grant, queue, acquire, passTime, events, shortTtlMs } = client;
      const held = await grant({ name: 'hot', ttlMs: shortTtlMs });
      const waiting = await line(client, 'hot', 12);
      await passTime(shortTtlMs + 20);
      assert.equal(expectOutcome(await acquire(waiting[3] as AcquireRequest), 'queued').refusal.reason, 'queue');
      await grant(waiting[0] as AcquireRequest);
      await queue('hot');
      const ends = (await events({ leaseId: held.id })).filter(({ type }) => type === 'lease.expired');
      assert.equal(ends.length, 1);
    },
  },
  {
    tags: ['Q6', 'Q1'],
    title: 'a block keeps a whole line waiting, and the first is served when it is over',
    run: async (client) => {
      const { grant, queue, acquire, release, passTime, refuse } = client;
      const held = await grant({ name: 'hot', minHoldMs: 600 });
      const waiting = await line(client, 'hot', 12);
      await release(held);
      const { refusal } = expectOutcome(await acquire(waiting[0] as AcquireRequest), 'queued');
      assert.deepEqual([refusal.reason, refusal.queueLength, refusal.holderCount], ['min_hold', 0, 0]);
      await queue('hot');
      await passTime(620);
      assert.equal((await refuse('hot')).reason, 'queue');
      await release(await grant(waiting[0] as AcquireRequest));
      await grant(waiting[1] as AcquireRequest);
    },
  },
  {
    tags: ['Q1'],
    title: 'an urgent one joins at the end, and from then on is ahead of everybody',
    run: async (client) => {
      const { ask, grant, acquire, release } = client;
      const held = await grant('hot');
      const waiting = await line(client, 'hot', 10);
      const urgent = await ask({ name: 'hot', join: true, priority: 1 });
      assert.equal(expectOutcome(await acquire(urgent), 'queued').place, 11);
      await expectPlaces(client, [urgent, ...waiting]);
      await release(held);
      await expectPlaces(client, waiting, 2);
      await release(await grant(urgent));
      await grant(waiting[0] as AcquireRequest);
    },
  },
  {
    tags: ['Q1', 'S1'],
    title: 'those who share, want a set, stand above or go before others are seen by everybody else in line',
    run: async (client) => {
      const { grant, queue, acquire, release } = client;
      const held = await grant('area/hot');
      const plain = await line(client, 'area/hot', 10);
      const readers = [await queue({ parts: [shared('area/hot')] }), await queue({ parts: [shared('area/hot')] })];
      const set = await queue({ parts: [node('a'), node('area/hot')] });
      const above = await queue({ parts: [subtree('area')] });
      const last = await queue('area/hot');
      assert.equal(expectOutcome(await acquire(last), 'queued').place, 15);
      const urgent = await queue({ name: 'area/hot', priority: 1 });
      await release(held);
      assert.equal(expectOutcome(await acquire(plain[0] as AcquireRequest), 'queued').place, 2);
      await release(await grant(urgent));
      for (const one of plain) await release(await grant(one));
      const both = [await grant(readers[0] as AcquireRequest), await grant(readers[1] as AcquireRequest)];
      assert.equal(expectOutcome(await acquire(set), 'queued').refusal.holderCount, 2);
      for (const one of both) await release(one);
      await release(await grant(set));
      assert.equal(expectOutcome(await acquire(last), 'queued').refusal.queueLength, 1);
      await release(await grant(above));
      await grant(last);
    },
  },
  {
    tags: ['A7', 'Q1'],
    title: 'a line that was revoked as a whole is gone, and the name is free',
    run: async (client) => {
      const { grant, acquire, release, revoke } = client;
      await grant('hot');
      const waiting = await line(client, 'hot');
      const { ended } = await revoke({ resource: 'hot' });
      assert.equal(ended.length, LONG + 1);
      await release(await grant('hot'));
      assert.equal(expectOutcome(await acquire(waiting[0] as AcquireRequest), 'ended').status, 'revoked');
      const held = await grant('hot');
      const next = await line(client, 'hot', 10);
      await release(held);
      await grant(next[0] as AcquireRequest);
    },
  },
  {
    tags: ['S8', 'S21'],
    title: 'a list may join a line, claim from it and get its items wrong, each for itself',
    run: async (client) => {
      const { grant, ask, acquireAll, release } = client;
      const held = await grant('hot');
      const waiting = await line(client, 'hot', 12);
      await release(held);
      const [first, second] = waiting as [AcquireRequest, AcquireRequest];
      const joiners = [await ask({ name: 'hot', join: true }), await ask({ name: 'hot', join: true })];
      const other = await ask('cold');
      const wrong = { ...second, ttlMs: second.ttlMs + 1 };
      const results = await acquireAll([second, joiners[0] as AcquireRequest, first, wrong, first, other, ...joiners]);
      assert.deepEqual(
        results.map(({ outcome }) => outcome),
        ['queued', 'queued', 'granted', 'mismatch', 'granted', 'granted', 'queued', 'queued'],
      );
      const places = results.map((result) => (result.outcome === 'queued' ? result.place : 0));
      assert.deepEqual(places, [2, 13, 0, 0, 0, 0, 12, 13]);
    },
  },
];
