// A short session on the embedded store with nothing configured: two connections to one SQLite file in a temporary
// directory. Each step prints one line; at the end the store's own log tells the same story. Run by `make run`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { makeId, normaliseParts, systemClock, toEvent } from 'holdfast';
import { openSqlite } from 'holdfast/stores/sqlite';

const TICKET_REFRESH_MS = 3_000;

const clock = systemClock();
const folder = mkdtempSync(join(tmpdir(), 'holdfast-session-'));
const say = (text) => console.log(text);

/** A client with a connection of its own, as another process would have. */
async function connect(owner) {
  const store = await openSqlite(`sqlite:${join(folder, 'leases.db')}`, { clock });
  const woken = new Set();
  store.subscribe({ wake: (ids) => ids.forEach((id) => woken.add(id)) });

  async function ask(resources, options = {}) {
    const { now: bornAt } = await store.time();
    return {
      id: makeId(bornAt, clock.randomText()),
      bornAt,
      owner,
      parts: normaliseParts(resources),
      ttlMs: 30_000,
      priority: 0,
      join: false,
      holding: [],
      reclaim: false,
      maxRenewals: -1,
      minHoldMs: 0,
      lockDelayMs: 0,
      remote: false,
      callerWall: clock.wall(),
      ...options,
    };
  }
  const only = ({ results: [result] }) => {
    if (result.outcome === 'failed') throw result.error;
    return result;
  };
  const authority = ({ id, epoch }) => ({ id, epoch, requestId: clock.randomText() });
  return {
    owner,
    store,
    ask,
    send: async (request) => only(await store.acquire([request])),
    release: async (lease) => only(await store.end([{ ...authority(lease), why: 'released' }])),
    delegate: async (lease, toOwner) => only(await store.change([{ kind: 'delegate', ...authority(lease), toOwner }])),
    /** Until the store says that the ticket's turn may have come; a lost hint costs one refresh. */
    waitForWake: async (request) => {
      const until = clock.monotonic() + TICKET_REFRESH_MS;
      while (!woken.has(request.id) && clock.monotonic() < until) await sleep(5);
      return woken.has(request.id);
    },
  };
}

const refusalText = ({ reason, holders: [holder], retryAfterMs }) =>
  `${reason} by ${holder.owner} with epoch ${holder.epoch}, try again in ${retryAfterMs} ms at the latest`;

try {
  const alice = await connect('alice');
  const bob = await connect('bob');

  const { lease: first } = await alice.send(await alice.ask('orders/0'));
  say(`alice acquires orders/0: epoch ${first.epoch}, for ${first.ttlMs} ms`);

  const refused = await bob.send(await bob.ask('orders/0'));
  say(`bob tries orders/0: ${refused.outcome} (${refusalText(refused.refusal)})`);

  const ticket = await bob.ask('orders/0', { join: true });
  const queued = await bob.send(ticket);
  say(`bob joins the queue: ${queued.outcome}, place ${queued.place}`);

  say(`alice releases: ${(await alice.release(first)).outcome}`);
  const isWoken = await bob.waitForWake(ticket);
  say(isWoken ? 'bob is woken over his own connection' : 'no hint reached bob: he refreshes his ticket');

  const { lease: second } = await bob.send(ticket);
  say(`bob claims with the same request: epoch ${second.epoch}, ${second.epoch - first.epoch} higher`);

  const { lease: third } = await bob.delegate(second, 'carol');
  say(`bob hands the lease to carol: epoch ${third.epoch}`);
  const late = await bob.release(second);
  say(`bob's late release: ${late.outcome}, the epoch is ${late.epoch} now; carol keeps the lease`);

  await alice.send(await alice.ask('reports/daily', { ttlMs: 200 }));
  say('alice acquires reports/daily for 200 ms and goes silent');
  const held = await bob.send(await bob.ask({ name: 'reports', scope: 'subtree' }));
  say(
    `bob tries everything below reports: ${held.outcome}, try again in ${held.refusal.retryAfterMs} ms at the latest`,
  );
  await sleep(held.refusal.retryAfterMs + 5);
  const { lease: fourth } = await bob.send(await bob.ask({ name: 'reports', scope: 'subtree' }));
  say(`bob tries again when that time is over: granted, epoch ${fourth.epoch}; nobody had to sweep`);

  say('\nThe log of the namespace:');
  const log = await alice.store.events({ limit: 100 });
  for (const row of log.rows) say(`  ${toEvent(row).sentence}`);

  await alice.store.close();
  await bob.store.close();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
