// The line to a store's streams: when its very first question gets lost, and when nobody waits for an answer any more. What has
// been sent may still have its effect.
import { expect, test } from 'vitest';
import { never, streamStage } from '../../test/support/stream-stage.js';
import { unlessAborted } from './sequence-link.js';

const stage = streamStage();

test('S15: the first question of all that is never answered keeps nobody from asking again', async () => {
  stage.store.order({ calls: 'sequence.ready', fault: 'loseReply' });
  const asked = stage.meanwhile(stage.stream.lease({ operationId: 'a', kind: 'k' }), 12_000);
  expect((await asked).number).toBe(1);
});

test('A9: what is asked when the signal has aborted already is over at once, and fails nobody later', async () => {
  const signal = AbortSignal.abort();
  await expect(unlessAborted(signal, never())).rejects.toThrow('aborted');
  await expect(unlessAborted(signal, Promise.reject(new Error('away')))).rejects.toThrow('aborted');
});
