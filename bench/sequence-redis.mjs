// Streams on Redis at the level of the port, log on, against bare commands in the same run on the same server: with
// `appendfsync always`, as a stream asks for it, where something is written.
import { createClient } from 'redis';
import { openRedis } from '../dist/stores/redis/index.js';
import { streamKeysOf } from '../dist/stores/redis/keys.js';
import { inParallel } from './port.mjs';
import { MANY_ROWS } from './scale.mjs';
import * as rowsOf from './sequence-rows.mjs';
import { clock, leaseOf, OPERATION, READ } from './sequence-rows.mjs';
import { startRedis } from './servers.mjs';

const KIND = 'Redis';
const [AT_ONCE, PAIRS, STREAM] = [32, 640, 's'];
const DURABLE = { appendonly: 'yes', appendfsync: 'always', save: '' };

export async function benchSequenceRedis(say) {
  const [durable, large] = [await startRedis(DURABLE), await startRedis({ save: '' })];
  const store = await openRedis(durable.url, { clock });
  const clients = [await dial(durable.url), await dial(large.url)];
  try {
    say('Redis: lease + commit against two bare writes');
    const rows = [await leaseAndCommit(store, clients[0])];
    say(`Redis: filling a stream with ${MANY_ROWS.toLocaleString('en')} numbers`);
    const [long, short] = [
      await filled(large.url, clients[1], 'long', MANY_ROWS),
      await filled(large.url, clients[1], 'short', 1_000),
    ];
    say(`Redis: reading ${READ} operations in order`);
    const barePage = await bareOperations(clients[1]);
    rows.push(await rowsOf.readRow(KIND, { ...long, barePage, baselineName: 'HMGET of 1,000, parsed', target: null }));
    say('Redis: the watermark of a long stream');
    rows.push(await rowsOf.watermarkRow(KIND, long, short));
    say('Redis: numbers that expire together');
    rows.push(await rowsOf.expiringRow(KIND, durable.url, store.sequences));
    for (const one of [long.store, short.store, store]) await one.close();
    return rows;
  } finally {
    for (const client of clients) client.destroy();
    await durable.remove();
    await large.remove();
  }
}

async function dial(url) {
  const client = createClient({ url });
  await client.connect();
  return client;
}

async function leaseAndCommit({ sequences }, client) {
  const ours = () =>
    inParallel(PAIRS, AT_ONCE, async () => {
      const request = leaseOf(STREAM);
      const [{ epoch }] = (await sequences.lease([request])).results;
      const { stream, operationId } = request;
      await sequences.commit([{ stream, operationId, epoch, operations: [OPERATION] }]);
    });
  const bare = () =>
    inParallel(PAIRS, AT_ONCE, async () => {
      const number = await client.incr('bare:next');
      await client.hSet('bare:operations', String(number), JSON.stringify(OPERATION));
    });
  const baselineName = 'INCR and HSET, appendfsync always';
  return rowsOf.leaseAndCommitRow(KIND, {
    ...{ ours, bare, pairs: PAIRS, concurrency: AT_ONCE, baselineName, target: null },
  });
}

/** Written straight into the keys: leasing a million one by one would take minutes and measure nothing. */
async function filled(url, client, namespace, count) {
  const store = await openRedis(url, { clock, namespace });
  await store.sequences.lease([leaseOf('another')]); // makes the keys
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
  return { store, sequences: store.sequences, stream: STREAM };
}

async function bareOperations(client) {
  const text = JSON.stringify([OPERATION]);
  for (let from = 1; from <= READ; from += 1_000)
    await client.hSet('bare:read', Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [from + i, text])));
  return (from, limit) =>
    client.hmGet(
      'bare:read',
      Array.from({ length: limit }, (_, i) => String(from + i)),
    );
}
