// The rows that streams have on every store, written once: what a store brings are its ways of doing a thing. Names say the store,
// because `make bench ONLY=sequence` keeps all of them together.
import { setTimeout as delay } from 'node:timers/promises';
import { connect, systemClock } from '../dist/index.js';
import { alternate, median, row } from './measure.mjs';
import { MANY_ROWS, scaled } from './scale.mjs';

export const clock = systemClock();
export const OPERATION = { account: 'a-17', cents: 1200, note: 'a transfer of some length, as they are' };
export const READ = Math.min(100_000, MANY_ROWS);
const PAGE = 1_000;
const LOOKS = 500;

const rowOf = (kind, name, rest) => row({ name: `${kind}: ${name}`, store: 'sequence', concurrency: 1, ...rest });

/** `ours` and `bare` each do `pairs` of them. */
export async function leaseAndCommitRow(kind, { ours, bare, pairs, concurrency, baselineName, target }) {
  await ours();
  await bare();
  const [oursMs, bareMs] = await alternate(scaled(15, 3), [ours, bare]);
  const perSecond = (ms) => (pairs * 1_000) / ms;
  return rowOf(kind, 'lease + commit', {
    concurrency,
    ours: perSecond(oursMs),
    baseline: perSecond(bareMs),
    baselineName,
    unit: 'per s',
    ratio: bareMs / oursMs,
    target,
  });
}

/** `barePage(from)` answers the texts of a page, which both sides parse. */
export async function readRow(kind, { sequences, stream, barePage, baselineName, target }) {
  const bare = async () => {
    let seen = 0;
    for (let from = 1; from <= READ; from += PAGE)
      for (const text of await barePage(from, PAGE)) seen += JSON.parse(text).length;
    if (seen !== READ) throw new Error(`only ${seen}`);
  };
  const order = { stream, limit: PAGE, seal: true, watch: false };
  const ours = async () => {
    for (let from = 1; from <= READ;) from += (await sequences.read({ ...order, from })).items.length;
  };
  const [oursMs, bareMs] = await alternate(scaled(7, 3), [ours, bare]);
  const ratio = bareMs / oursMs;
  return rowOf(kind, `read ${READ} operations`, {
    ...{ ours: oursMs, baseline: bareMs, baselineName, unit: 'ms', ratio, target },
  });
}

/** `long` and `short` are streams with everything settled: { sequences, stream }. */
export async function watermarkRow(kind, long, short) {
  await leaveOpen(long, 1_000);
  await leaveOpen(short, 10);
  const look = async ({ sequences, stream }) => {
    for (let i = 0; i < LOOKS; i += 1)
      await sequences.read({ stream, from: 2 ** 52, limit: 1, seal: false, watch: false });
  };
  const [longMs, shortMs] = await alternate(scaled(21, 3), [() => look(long), () => look(short)]);
  return rowOf(kind, `watermark, ${MANY_ROWS.toLocaleString('en')} settled and 1,000 open`, {
    ...{ ours: longMs / LOOKS, baseline: shortMs / LOOKS, baselineName: '1,000 and 10', unit: 'ms' },
    ...{ ratio: longMs / shortMs, target: 1.3, atMost: true },
  });
}

async function leaveOpen({ sequences, stream }, count) {
  const one = (i) => leaseOf(stream, { operationId: `open-${i}`, ttlMs: 3_600_000 });
  for (let i = 0; i < count; i += 10) await sequences.lease(Array.from({ length: 10 }, (_, n) => one(i + n)));
}

export function leaseOf(stream, { operationId = clock.randomText(), ttlMs = 600_000 } = {}) {
  return { stream, operationId, kind: 'k', ttlMs, count: 1, owner: 'bench' };
}

/** Numbers that expire together and are settled in one go: per number, a thousand of them against ten. */
export async function expiringRow(kind, url, sequences) {
  const leases = await connect(url, { services: 'off' });
  await leases.config.set('cascade_threshold', 10_000); // the throttle of recovery mode is not what is measured
  let made = 0;
  const settle = async (count) => {
    const stream = `expiring-${(made += 1)}`;
    const one = (i) => leaseOf(stream, { operationId: `op-${i}`, ttlMs: 100 });
    for (let i = 0; i < count; i += 10) await sequences.lease(Array.from({ length: 10 }, (_, n) => one(i + n)));
    await delay(150);
    const began = performance.now();
    const { settled } = await leases.sequence(stream).recovery.run();
    if (settled !== count) throw new Error(`only ${settled} of ${count}`);
    return (performance.now() - began) / count;
  };
  await settle(10);
  const [many, few] = [[], []];
  for (let round = 0; round < scaled(5, 1); round += 1) {
    many.push(await settle(1_000));
    for (let again = 0; again < 3; again += 1) few.push(await settle(10));
  }
  await leases.shutdown();
  const [ours, baseline] = [median(many), median(few)];
  return rowOf(kind, '1,000 that expire together, per number', {
    ...{ ours, baseline, baselineName: '10 together', unit: 'ms', ratio: ours / baseline, target: 1.5, atMost: true },
  });
}
