// Reading a history from a store whose clock goes on while it is read.
import { expect, test } from 'vitest';
import { long, Script } from '../../../test/support/scripted-history.js';
import { checkHistory } from './check-history.js';
import { readHistory } from './history-records.js';

test('S3: what runs out between the sweep and the reading is found in the log all the same', async () => {
  const all = new Script();
  await all.acquire('held', 'ann', 'a', { ttlMs: 1_000 });
  await all.pass(900);
  const renewal = { id: long('held'), epoch: all.epoch('held'), requestId: 'once', callerWall: 0 };
  await all.client.renew([renewal]);
  await all.pass(500); // past the deadline of its grant, and of no row in the log: renewals are not always written down
  const sweep = all.store.sweep.bind(all.store);
  all.store.sweep = async (order) => {
    const swept = await sweep(order);
    await all.clock.advance(600);
    return swept;
  };

  const history = await readHistory(all.store);
  expect(history.log.map(({ type }) => type)).toEqual(['lease.acquired', 'lease.expired']);
  expect(checkHistory({ ...history, records: [] })).toEqual([]);
});
