// Processes that want one lease all the time while they are stopped, continued, killed and replaced at any moment, also
// inside a write of the file. What each believed (S7) is held against what the others believed at the same time (S1).
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { openSqlite } from '../../src/stores/sqlite/index.js';
import { systemClock } from '../../src/system-clock.js';
import { checkHistory } from '../../src/testing/store-conformance/check-history.js';
import { readHistory } from '../../src/testing/store-conformance/history-records.js';
import type { Child } from '../support/child.js';
import { monotonic, processSite } from '../support/process-site.js';

const TTL_MS = 300;
const FOR_MS = 6_000;
/** Trouble goes on until each group had this many turns, on a slow machine for longer. */
const ENOUGH_TURNS = 6;
const LONGEST_MS = 60_000;
/** Some queue and are never killed, because a dead head holds up its queue (Q2); the others ask again and again. */
const QUEUES = { resource: 'door', ttl: TTL_MS, wait: 'forever' };
const ASKS = { resource: 'gate', ttl: TTL_MS, wait: 0 };
const EACH = 3;
const clock = systemClock();
const site = processSite();

interface Turn {
  readonly epoch: number;
  readonly from: number;
  readonly to: number;
}

test('S1, S2, S7: whoever is stopped or killed, no two processes ever believe at once, and epochs rise', async () => {
  const until = monotonic() + FOR_MS;
  const groups = await Promise.all([QUEUES, ASKS].map((options) => trouble(options, until)));
  for (const turns of groups) {
    expect(turns.length).toBeGreaterThanOrEqual(ENOUGH_TURNS);
    expect(turns.slice(1).filter((turn, i) => turn.from <= turns[i]!.to)).toEqual([]);
    expect(new Set(turns.map((turn) => turn.epoch)).size).toBe(turns.length);
  }
  const store = await openSqlite(site.url, { clock });
  expect(checkHistory({ ...(await readHistory(store)), records: [] })).toEqual([]);
  await store.close();
});

/** Stops one after the other, mostly the one that believes; answers what all of them believed, by epoch. */
async function trouble(options: typeof QUEUES | typeof ASKS, until: number): Promise<Turn[]> {
  const all: Child[] = [];
  const start = (): Child => {
    const owner = `${options.resource}-${all.length}`;
    const child = site.run('contender-child.mjs', site.url, owner, JSON.stringify(options));
    all.push(child);
    return child;
  };
  const present = Array.from({ length: EACH }, start);
  await Promise.all(present.map((child) => child.line('open')));
  const turns = (): Turn[] => all.flatMap((child) => turnsIn(child.lines));
  const goesOn = (): boolean =>
    monotonic() < until || (turns().length < ENOUGH_TURNS && monotonic() < until - FOR_MS + LONGEST_MS);
  while (goesOn()) {
    const believer = present.findIndex((child) => child.lines.at(-1)?.startsWith('believes'));
    const at = believer >= 0 && clock.random() < 0.8 ? believer : Math.floor(clock.random() * EACH);
    const child = present[at]!;
    child.process.kill('SIGSTOP');
    await delay(clock.random() * 2 * TTL_MS);
    if (options === ASKS && clock.random() < 0.3) {
      child.process.kill('SIGKILL');
      present[at] = start();
    }
    child.process.kill('SIGCONT');
    await delay(clock.random() * TTL_MS);
  }
  for (const child of all) child.process.kill('SIGKILL');
  await Promise.all(all.map((child) => child.ended));
  return turns().sort((a, b) => a.epoch - b.epoch);
}

/** A turn in which the handle was never found to be held has no moments, and says nothing. */
function turnsIn(lines: readonly string[]): Turn[] {
  const found = lines.map((line) => line.split(' ')).filter(([what, , , to]) => what === 'turn' && Number(to) > 0);
  return found.map(([, epoch, from, to]) => ({ epoch: Number(epoch), from: Number(from), to: Number(to) }));
}
