// Real processes on one file: stopped inside a write, killed at any moment, starting all at once, waking one another.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import Driver from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openSqlite, type SqliteStore } from '../../src/stores/sqlite/index.js';
import { systemClock } from '../../src/system-clock.js';
import { checkHistory } from '../../src/testing/store-conformance/check-history.js';
import { readHistory } from '../../src/testing/store-conformance/history-records.js';
import { grant } from '../support/ask.js';
import { startChild, type Child } from '../support/child.js';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';

const PULSE_MS = 5;
const clock = systemClock();
let folder: TemporaryFolder;
let file: string;
let children: Child[];
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'leases.db');
  children = [];
});
afterEach(async () => {
  for (const child of children) child.process.kill('SIGKILL');
  await Promise.all(children.map((child) => child.ended));
  folder.remove();
});

const open = (): Promise<SqliteStore> => openSqlite(`sqlite:${file}`, { clock });
function start(owner: string): Child {
  const child = startChild('sqlite-child.mjs', file, owner);
  children.push(child);
  return child;
}

/** The loop's lag that 19 of 20 pulses stay below, in milliseconds. */
async function lagWhile(work: Promise<unknown>): Promise<number> {
  const lags: number[] = [];
  let last = clock.monotonic();
  const pulse = setInterval(() => {
    lags.push(clock.monotonic() - last - PULSE_MS);
    last = clock.monotonic();
  }, PULSE_MS);
  await work.finally(() => {
    clearInterval(pulse);
  });
  return lags.sort((a, b) => a - b)[Math.floor(lags.length * 0.95)] ?? 0;
}

test('S20: a process stopped inside a write transaction leaves the loop free, and the call fails with what to look for', async () => {
  const store = await open();
  await grant(store, clock, 'before');
  const frozen = start('frozen');
  await frozen.line('open');
  frozen.tell('freeze');
  await frozen.line('frozen');
  const usual = await lagWhile(delay(1_000));
  const failing = expect(grant(store, clock, 'a')).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
    retryable: true,
    message: expect.stringContaining('stopped inside a write') as string,
  });
  expect(await lagWhile(failing)).toBeLessThan(20 + usual);
  frozen.process.kill('SIGCONT');
  await frozen.line('thawed');
  await grant(store, clock, 'a');
  await store.close();
});

test('S6, S2: killed at any moment, the file is whole: nothing half done, nothing answered is lost, no epoch twice', async () => {
  const answered: string[] = [];
  for (let round = 0; round < 8; round += 1) {
    const looping = [start('one'), start('two')];
    await Promise.all(looping.map((child) => child.line('open')));
    for (const child of looping) child.tell('loop');
    await Promise.all(looping.map((child) => child.line('granted')));
    await delay(20 + 40 * clock.random());
    for (const child of looping) child.process.kill('SIGKILL');
    await Promise.all(looping.map((child) => child.ended));
    answered.push(...looping.flatMap((child) => child.lines));
    const raw = new Driver(file);
    expect(raw.pragma('integrity_check', { simple: true })).toBe('ok');
    raw.close();
  }
  const store = await open();
  const history = await readHistory(store);
  expect(checkHistory({ ...history, records: [] })).toEqual([]);
  const logged = new Set(history.log.map((row) => `${row.type} ${row.leaseId ?? ''} ${row.epoch ?? ''}`));
  for (const line of answered) {
    const [what, id, epoch] = line.split(' ');
    if (what === 'granted') expect(logged).toContain(`lease.acquired ${id} ${epoch}`);
    if (what === 'released') expect(logged).toContain(`lease.released ${id} ${epoch}`);
  }
  expect(answered.length).toBeGreaterThan(50);
  await store.close();
});

test('O4: many processes that open a new file at once migrate it once', async () => {
  const starting = Array.from({ length: 6 }, (_, i) => start(`process-${i}`));
  await Promise.all(starting.map((child) => child.line('open')));
  const raw = new Driver(file);
  expect(raw.prepare('SELECT name FROM migration ORDER BY name').pluck().all()).toEqual(['001-journal', '002-tail']);
  raw.close();
});

test('Q3: a release in one process wakes the waiter in another within milliseconds', async () => {
  const [holder, waiter] = [start('holder'), start('waiter')];
  await Promise.all([holder.line('open'), waiter.line('open')]);
  holder.tell('hold door 60000');
  const [, id, epoch] = (await holder.line('held')).split(' ');
  waiter.tell('wait door');
  await waiter.line('queued');
  holder.tell(`end ${id} ${epoch}`);
  const [ended, granted] = await Promise.all([holder.line('ended'), waiter.line('granted')]);
  const tookMs = (Number(granted.split(' ')[1]) - Number(ended.split(' ')[1])) / 1_000;
  expect(tookMs).toBeLessThan(1_000);
});
