// How long a lease of numbers may live, at the limit.
import { expect, test } from 'vitest';
import { streamStage } from '../../test/support/stream-stage.js';

const stage = streamStage();

test('N1, S7: an operation whose lease is nearly over is leased again for as long as a lease may live', async () => {
  await stage.stream.lease({ operationId: 'a', kind: 'order', ttl: '1s' });
  await stage.clock.advance(990);
  const held = await stage.meanwhile(stage.stream.lease({ operationId: 'a', kind: 'order', ttl: '30d' }));
  expect([held.number, held.isHeld]).toEqual([1, true]);
  await held.commit('done');
});
