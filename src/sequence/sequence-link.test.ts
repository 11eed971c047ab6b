// The line to a store's streams when its very first question gets lost.
import { expect, test } from 'vitest';
import { streamStage } from '../../test/support/stream-stage.js';

const stage = streamStage();

test('S15: the first question of all that is never answered keeps nobody from asking again', async () => {
  stage.store.order({ calls: 'sequence.ready', fault: 'loseReply' });
  const asked = stage.meanwhile(stage.stream.lease({ operationId: 'a', kind: 'k' }), 12_000);
  expect((await asked).number).toBe(1);
});
