// `run` killed with -9 at random moments, 200 times, several at once: whatever it was doing, nothing of its command is
// alive when the store could give the lease to somebody else. Two of five are killed while they start, the others later;
// most commands ignore SIGTERM, some with little grace and some with as much as the lease leaves.
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { monotonic } from '../support/process-site.js';
import type { Child } from '../support/child.js';
import { beating, expiryOf, heartbeat, isAlive, runSite } from '../support/run-site.js';

const TIMES = 200;
const AT_ONCE = 8;
const TTL_MS = 2_500;
/** With a ttl as long as this the command does not wait until its guardian listens. */
const UNHURRIED_MS = 10_000;
/** Renewals are due before 60 % of the ttl: some have happened, some are under way. */
const LATEST_KILL_MS = 0.65 * TTL_MS;
/** /proc/uptime counts in hundredths of a second. */
const TICK_MS = 10;
const site = runSite();

interface Round {
  readonly hasRun: boolean;
  /** Between the end of the last process, or its last heartbeat, and the expiry. */
  readonly spareMs: number;
}

const KINDS = [
  { isEarly: true, ttlMs: TTL_MS, options: [], words: ['deaf'] },
  { isEarly: false, ttlMs: TTL_MS, options: [], words: [] },
  { isEarly: true, ttlMs: UNHURRIED_MS, options: ['--grace', '200ms'], words: ['deaf'] },
  { isEarly: false, ttlMs: UNHURRIED_MS, options: ['--grace', '200ms'], words: ['deaf'] },
  { isEarly: false, ttlMs: TTL_MS, options: [], words: ['deaf'] },
];
/** How long it took lately until a command ran. */
let startMs = 500;

async function killOnce(number: number, watcher: Child): Promise<Round> {
  const { isEarly, ttlMs, options, words } = KINDS[number % KINDS.length]!;
  const beats = `${site.file}.beats-${number}`;
  const startedAt = monotonic();
  const command = ['--ttl', `${ttlMs}ms`, ...options, '--', 'sh', heartbeat, beats, ...words];
  const running = site.holdfast('run', `door/${number}`, ...command);
  const alive = beating(running).catch(() => undefined); // killed before it had begun
  if (isEarly) await delay(Math.random() * startMs);
  else {
    await alive;
    startMs = (startMs + monotonic() - startedAt) / 2;
    await delay(Math.random() * LATEST_KILL_MS);
  }
  running.process.kill('SIGKILL');
  const found = await alive;
  if (!found) return { hasRun: false, spareMs: Infinity };
  watcher.tell(`watch ${number} [${found.child},${found.grandchild}]`);
  const [, , , goneAt] = (await watcher.line(`dead ${number} `)).split(' ').map(Number) as [0, 0, 0, number];
  const expiry = await expiryOf(site, found.leaseId);
  await running.silent; // nobody else has its standard output either
  expect([found.child, found.grandchild].filter(isAlive)).toEqual([]);
  return { hasRun: true, spareMs: expiry - Math.max(goneAt, lastBeat(beats)) };
}

function lastBeat(file: string): number {
  if (!existsSync(file)) return 0;
  const offset = Number(readFileSync('/proc/uptime', 'utf8').split(' ')[0]) * 1_000 - monotonic();
  return Number(readFileSync(file, 'utf8').trim().split('\n').at(-1)) * 1_000 - offset - TICK_MS;
}

test(`C2, S7: killed ${TIMES} times at random moments, nothing of it is alive past the expiry`, async () => {
  await site.look();
  const watcher = site.run('death-watch-child.mjs');
  await watcher.line('open');
  const rounds: Round[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < TIMES) rounds.push(await killOnce((next += 1), watcher));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  const ran = rounds.filter(({ hasRun }) => hasRun);
  expect(ran.length).toBeGreaterThanOrEqual(0.6 * TIMES);
  const spares = ran.map(({ spareMs }) => Math.round(spareMs)).toSorted((a, b) => a - b);
  expect(spares[0], `${ran.length} of ${TIMES} ran; shortest: ${spares.slice(0, 10).join(', ')}`).toBeGreaterThan(0);
});
