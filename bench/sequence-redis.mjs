// Streams on Redis at the level of the port, log on, against bare commands in the same run on the same server: with
// `appendfsync always`, as a stream asks for it, where something is written.
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from 'redis';
import { connect, systemClock } from '../dist/index.js';
import { openRedis } from '../dist/stores/redis/index.js';
import { streamKeysOf } from '../dist/stores/redis/keys.js';
import { alternate, median, row } from './measure.mjs';
import { startRedis } from './servers.mjs';

const clock = systemClock();
const OPERATION = { account: 'a-17', cents: 1200, note: 'a transfer of some length, as they are' };
const MILLION = Number(process.env.BENCH_ROWS ?? 1_000_000);
const [READ, AT_ONCE, STREAM] = [Math.min(100_000, MILLION), 32, 's'];
const DURABLE = { appendonly: 'yes', appendfsync: 'always', save: '' };

export async function benchSequenceRedis(say) {
  const [durable, large] = [await startRedis(DURABLE), await startRedis({ save: '' })];
  try {
    say('redis: lease + commit against two bare writes');
    const rows = [await leaseAndCommit(durable.url)];
    say(`redis: filling a stream with ${MILLION.toLocaleString('en')} numbers`);
    const long = await filled(large.url, 'long', MILLION);
    say(`redis: reading ${READ} operations in order`);
    rows.push(await reading(long, large.url));
    say('redis: the watermark of a long stream');
    rows.push(await watermark(long, await filled(large.url, 'short', 1_000)));
    say('redis: numbers that expire together');
    rows.push(await expiring(durable.url));
    return rows;
  } finally {
    await durable.remove();
    await large.remove();
  }
}

async function dial(url) {
  const client = createClient({ url });
  await client.connect();
  return client;
}

async function open(url, namespace) {
  const store = await openRedis(url, { clock, namespace });
  return { store, sequences: store.sequences };
}

const leaseOf = (operationId = clock.randomText(), ttlMs = 600_000) => ({
  stream: STREAM,
  operationId,
  kind: 'k',
  ttlMs,
  count: 1,
  owner: 'bench',
});

async function leaseAndCommit(url) {
  const { store, sequences } = await open(url, 'default');
  const client = await dial(url);
  const pairs = 640;
  const atOnce = async (one) => {
    let left = pairs;
    const work = async () => {
      while (left-- > 0) await one();
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };
  const ours = async () => {
    const request = leaseOf();
    const [{ epoch }] = (await sequences.lease([request])).results;
    const { stream, operationId } = request;
    await sequences.commit([{ stream, operationId, epoch, operations: [OPERATION] }]);
  };
  const bare = async () => {
    const number = await client.incr('bare:next');
    await client.hSet('bare:operations', String(number), JSON.stringify(OPERATION));
  };
  const [oursMs, bareMs] = await alternate(15, [() => atOnce(ours), () => atOnce(bare)]);
  await store.close();
  client.destroy();
  const perSecond = (ms) => (pairs * 1_000) / ms;
  return row({
    name: 'lease + commit',
    store: 'sequence',
    concurrency: AT_ONCE,
    ours: perSecond(oursMs),
    baseline: perSecond(bareMs),
    baselineName: 'INCR and HSET, appendfsync always',
    unit: 'per s',
    ratio: bareMs / oursMs,
    target: null,
  });
}

/** Written straight into the keys: leasing a million one by one would take minutes and measure nothing. */
async function filled(url, namespace, count) {
  const bench = await open(url, namespace);
  await bench.sequences.lease([{ ...leaseOf(), stream: 'another' }]); // makes the keys
  const client = await dial(url);
  const [streams, spans, , ids, , , , , places] = streamKeysOf(namespace).slice(8);
  const script = `
    for n = tonumber(ARGV[1]), tonumber(ARGV[2]) do
      local number = string.format('%016.0f', n)
      redis.call('HSET', KEYS[1], ARGV[3] .. '\\0' .. number, string.format('c %.0f 1 %.0f 0 0 1 1 1 1 1 0 0 0 0 0 0 0 0 0', n,
        #ARGV[4]) .. '\\top-' .. n .. '\\tk\\to\\t\\t\\t\\t\\t' .. ARGV[4])
      redis.call('HSET', KEYS[2], ARGV[3] .. '\\0op-' .. n, n)
    end`;
  const text = JSON.stringify([OPERATION]);
  for (let from = 1; from <= count; from += 10_000) {
    const to = Math.min(count, from + 9_999);
    await client.eval(script, { keys: [spans, ids], arguments: [String(from), String(to), STREAM, text] });
  }
  await client.hSet(streams, STREAM, `${count + 1} 0 1 0 0 0 0 0`);
  await client.zAdd(places, { score: 0, value: `s${STREAM}` });
  client.destroy();
  return bench;
}

async function reading({ sequences }, url) {
  const client = await dial(url);
  const text = JSON.stringify([OPERATION]);
  for (let from = 1; from <= READ; from += 1_000)
    await client.hSet('bare:read', Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [from + i, text])));
  const bare = async () => {
    let seen = 0;
    for (let from = 1; from <= READ; from += 1_000) {
      const fields = Array.from({ length: 1_000 }, (_, i) => String(from + i));
      for (const one of await client.hmGet('bare:read', fields)) seen += JSON.parse(one).length;
    }
    if (seen !== READ) throw new Error(`only ${seen}`);
  };
  const ours = async () => {
    let from = 1;
    while (from <= READ) {
      const { items } = await sequences.read({ stream: STREAM, from, limit: 1_000, seal: true, watch: false });
      from += items.length;
    }
  };
  const [oursMs, bareMs] = await alternate(7, [ours, bare]);
  client.destroy();
  return row({
    name: `read ${READ} operations`,
    store: 'sequence',
    concurrency: 1,
    ours: oursMs,
    baseline: bareMs,
    baselineName: 'HMGET of 1,000, parsed',
    unit: 'ms',
    ratio: bareMs / oursMs,
    target: null,
  });
}

async function watermark(long, short) {
  for (const [{ sequences }, count] of [
    [long, 1_000],
    [short, 10],
  ])
    for (let i = 0; i < count; i += 1) await sequences.lease([leaseOf()]);
  const look = async ({ sequences }) => {
    for (let i = 0; i < 500; i += 1)
      await sequences.read({ stream: STREAM, from: 2 ** 52, limit: 1, seal: false, watch: false });
  };
  const [longMs, shortMs] = await alternate(21, [() => look(long), () => look(short)]);
  await long.store.close();
  await short.store.close();
  return row({
    name: 'watermark, 1,000,000 settled and 1,000 open',
    store: 'sequence',
    concurrency: 1,
    ours: longMs / 500,
    baseline: shortMs / 500,
    baselineName: '1,000 and 10',
    unit: 'ms',
    ratio: longMs / shortMs,
    target: 1.3,
    atMost: true,
  });
}

async function expiring(url) {
  const leases = await connect(url, { services: 'off' });
  await leases.config.set('cascade_threshold', 10_000); // the throttle of recovery mode is not what is measured
  const { store, sequences } = await open(url, 'default');
  let made = 0;
  const settle = async (count) => {
    const stream = `s${(made += 1)}`;
    for (let at = 0; at < count; at += 250) {
      const numbers = Array.from({ length: Math.min(250, count - at) }, (_, i) => leaseOf(`op-${at + i}`, 100));
      await sequences.lease(numbers.map((one) => ({ ...one, stream })));
    }
    await delay(150);
    const began = performance.now();
    const { settled } = await leases.sequence(stream).recovery.run();
    if (settled !== count) throw new Error(`only ${settled} of ${count}`);
    return (performance.now() - began) / count;
  };
  const [many, few] = [[], []];
  for (let round = 0; round < 5; round += 1) {
    many.push(await settle(1_000));
    few.push(await settle(10));
  }
  const [ours, baseline] = [many, few].map(median);
  await leases.shutdown();
  await store.close();
  return row({
    name: '1,000 that expire together, per number',
    store: 'sequence',
    concurrency: 1,
    ours,
    baseline,
    baselineName: '10 together',
    unit: 'ms',
    ratio: ours / baseline,
    target: 1.5,
    atMost: true,
  });
}
