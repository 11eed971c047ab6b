// A stream of hints and a client that does not read: it costs a gathering, and not for ever.
import { expect, test } from 'vitest';
import { FakeClock } from '../../testing/fake-clock.js';
import { HintFeed } from './hint-feed.js';

function open() {
  const clock = new FakeClock();
  const seen = { ends: 0, cuts: 0 };
  const feed = new HintFeed({ clock, onEnd: () => (seen.ends += 1), destroy: () => (seen.cuts += 1) });
  return { clock, feed, seen };
}

test('W5: a client that takes nothing for 45 s is cut, once, and leaves no timer', async () => {
  const { clock, feed, seen } = open();
  await clock.advance(44_999);
  expect(seen).toEqual({ ends: 0, cuts: 0 });
  await clock.advance(1);
  expect(seen).toEqual({ ends: 1, cuts: 1 });
  expect(clock.pendingTimers).toBe(0);
  await feed.body.cancel(); // as a connection does that ends
  feed.end();
  expect(seen).toEqual({ ends: 1, cuts: 1 });
});

test('W5: without a connection to end, the body fails', async () => {
  const clock = new FakeClock();
  const { body } = new HintFeed({ clock, onEnd: () => undefined });
  await clock.advance(45_000);
  await expect(body.getReader().read()).rejects.toThrow('does not read');
});

test('W5: a client that reads a little now and then stays', async () => {
  const { clock, feed, seen } = open();
  const reader = feed.body.getReader();
  for (let n = 0; n < 10; n += 1) {
    feed.add('default', (gathered) => (gathered.changed = true));
    await clock.advance(40_000);
    expect((await reader.read()).done).toBe(false);
  }
  expect(seen).toEqual({ ends: 0, cuts: 0 });
  await reader.cancel();
  expect(seen.ends).toBe(1);
  expect(clock.pendingTimers).toBe(0);
});
