// A lock by hand in Redis: `SET NX PX`, and a script that deletes the key if it is still ours, by its hash. Through the same
// package that the store uses for a url (`redis`), over a connection of its own. No history, no queue, no ids, no epochs.
import { createClient } from 'redis';

const TTL_MS = 30_000;
const FREE = "if redis.call('get', KEYS[1]) == ARGV[1] then return redis.call('del', KEYS[1]) else return 0 end";

export async function openBareRedis(url) {
  const client = createClient({ url });
  await client.connect();
  const sha = await client.scriptLoad(FREE);
  let count = 0;
  return {
    name: 'SET NX PX + compare-and-delete',
    pair: async (i) => {
      count += 1;
      const [key, token] = [`bare/${i % 1_000}`, `bench-1-abcdef-${count}`];
      if ((await client.set(key, token, { condition: 'NX', expiration: { type: 'PX', value: TTL_MS } })) !== 'OK')
        throw new Error(`${key} is taken`);
      if ((await client.evalSha(sha, { keys: [key], arguments: [token] })) !== 1)
        throw new Error(`${key} was not held`);
    },
    close: () => client.close(),
  };
}
