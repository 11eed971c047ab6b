// How long a lease of numbers may live, at the limit, and one that is nearly or quite over when its answer arrives.
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

test('N1, S7: a lease that is over when its answer arrives is asked for again, and the number is the same', async () => {
  stage.store.order({ calls: 'sequence.lease', replyMs: 400 });
  const held = await stage.meanwhile(stage.stream.lease({ operationId: 'a', kind: 'order', ttl: 300 }));
  expect([held.number, held.isHeld]).toEqual([1, true]);
  await held.commit('done');
});

test('N1: a lease that is over when its answer arrives, and whose number became a gap, says so', async () => {
  stage.store.order({ calls: 'sequence.lease', replyMs: 400 });
  stage.store.order({ calls: 'sequence.progress', requestMs: 1_000 });
  const lease = stage.stream.lease({ operationId: 'a', kind: 'order', ttl: 300 });
  const says = expect(lease).rejects.toMatchObject({ code: 'SEQUENCE_SETTLED' });
  for (let passed = 0; passed < 500; passed += 5) await stage.clock.advance(5);
  await stage.run();
  await stage.meanwhile(says);
});
