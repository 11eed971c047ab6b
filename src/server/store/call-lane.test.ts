// What a lane of calls does with a store that breaks the port.
import { expect, test } from 'vitest';
import type { Answers } from '../../stores/store.js';
import { FakeClock } from '../../testing/fake-clock.js';
import { CallLane } from './call-lane.js';

const left = { outcome: 'left' };

test.each<[string, unknown]>([
  ['too few results', [left]],
  ['too many', [left, left, left]],
  ['no list at all', undefined],
])(
  'S12, S21: an answer with %s is given to nobody: each client is told, and the lane goes on',
  async (_what, first) => {
    const given = [first, [left]];
    const lane = new CallLane(
      new FakeClock(),
      () =>
        Promise.resolve({ now: 1, incarnation: 'one', settingsVersion: 1, results: given.shift() } as Answers<object>),
      () => undefined,
    );
    const failed = { status: 'rejected', reason: { code: 'STORE_UNAVAILABLE' } };
    expect(await Promise.allSettled([lane.ask([{}]), lane.ask([{}])])).toMatchObject([failed, failed]);
    expect(await lane.ask([{}])).toMatchObject({ results: [left] });
  },
);
