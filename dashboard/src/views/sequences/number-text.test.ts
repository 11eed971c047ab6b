// Which numbers are open, out of a log that is read newest first; numbers and outcomes in words.
import { describe, expect, test } from 'vitest';
import type { LeaseEvent, ManualItem, StreamView } from '../../api/types.js';
import { countOutcomes, openLeases, outcomeOf, spanOf } from './number-text.js';
import { settledText } from './settled-text.js';

const stream: StreamView = {
  ...{ name: 's', leased: 9, open: 2, watermark: 3, seal: 0, trimmedBefore: 1, gaps: 0, moved: 0, manual: 0 },
  readers: [],
};
const AT = '2026-01-01T00:00:00.000Z';
function event(type: string, number: number, data: Record<string, unknown> = {}): LeaseEvent {
  const facts = { number, operationId: `op-${number}`, kind: 'k', ...data };
  const id = `${type} ${number} ${JSON.stringify(data)}`;
  return { id, type, at: AT, namespace: 'n', owner: 'ann', actor: 'ann', sentence: '', data: facts };
}

describe('open numbers', () => {
  test('a number is what was said of it last', () => {
    const log = [
      event('sequence.leased', 8, { count: 2, expiresAt: Date.parse(AT) }),
      event('sequence.committed', 6),
      event('sequence.leased', 6),
      event('recovery.failed', 5, { outcome: 'retry' }),
      event('sequence.leased', 5),
      event('sequence.gap', 4),
      event('sequence.leased', 4),
      event('sequence.leased', 2),
    ];
    expect(openLeases(stream, log).map(({ number, count, owner, isExact }) => [number, count, owner, isExact])).toEqual(
      [
        [5, 1, 'ann', false],
        [8, 2, 'ann', false],
      ],
    );
    expect(openLeases(stream, log)[1]?.expiresAt).toBe(AT);
  });

  test('a number that was given up and leased again is open', () => {
    const log = [event('sequence.leased', 5, { again: true }), event('sequence.gap', 5), event('sequence.leased', 5)];
    expect(openLeases(stream, log)).toHaveLength(1);
  });

  test('what the stream itself says of its lowest is exact, also where the log has forgotten it', () => {
    const oldestOpen = {
      ...{ number: 4, state: 'recovering' as const, operationId: 'x', kind: 'k', owner: 'bob' },
      ...{ leasedAt: AT, expiresAt: AT, dueAt: AT },
    };
    expect(openLeases({ ...stream, oldestOpen }, [])).toMatchObject([
      { number: 4, owner: 'bob', isExact: true, isRecovering: true, count: 1 },
    ]);
    const [lowest] = openLeases({ ...stream, oldestOpen }, [event('sequence.leased', 4, { count: 3 })]);
    expect(lowest).toMatchObject({ number: 4, count: 3, owner: 'bob' });
  });
});

test('spans and outcomes in words', () => {
  expect([spanOf(7), spanOf(1_200, 3)]).toEqual(['7', '1,200–1,202']);
  const outcomes = [
    event('recovery.failed', 1, { outcome: 'retry' }),
    event('recovery.failed', 1, { outcome: 'manual' }),
    event('recovery.failed', 1, { outcome: 'discarded' }),
    event('recovery.succeeded', 2, { outcome: 'gap' }),
    event('recovery.succeeded', 3, { outcome: 'moved' }),
    event('recovery.succeeded', 4, { outcome: 'committed', method: 'recommitted' }),
    event('recovery.succeeded', 5, { outcome: 'filled', method: 'partial_work' }),
  ];
  expect(outcomes.map(outcomeOf)).toEqual([
    'failed, tried again',
    'given to a person',
    'discarded',
    'left a gap',
    'moved',
    'stored after all',
    'rebuilt',
  ]);
  expect(countOutcomes([...outcomes, event('recovery.succeeded', 6, { outcome: 'gap' })])[0]).toEqual({
    outcome: 'left a gap',
    count: 2,
  });
});

test('what came of settling is told, also when somebody else was first', () => {
  const item = { number: 5, count: 2 } as ManualItem;
  expect(settledText({ outcome: 'stored', number: 5 }, item)).toMatch(/own number, 5–6/);
  expect(settledText({ outcome: 'stored', number: 9 }, item)).toMatch(/as number 9–10: readers had passed 5–6/);
  expect(settledText({ outcome: 'queued' }, item)).toMatch(/^Ordered/);
  expect(settledText({ outcome: 'discarded' }, item)).toMatch(/5–6 stays a gap/);
  expect(settledText(undefined, item)).toMatch(/not in the queue any more/);
  expect(settledText({ outcome: 'new' }, item)).toMatch(/server says: new/);
});
