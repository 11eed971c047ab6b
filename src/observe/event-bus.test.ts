// The event bus: who hears what, in which order, and that a bad listener is its own problem.
import { expect, test } from 'vitest';
import { invalidMessage } from '../../test/support/invalid-message.js';
import type { EventFacts, EventType } from '../domain/events.js';
import { FakeClock } from '../testing/fake-clock.js';
import { EventBus } from './event-bus.js';
import { silentLogger, type Logger } from './logger.js';

const NOON = Date.UTC(2026, 0, 2, 12);
const facts = (type: EventType, changes: Partial<EventFacts> = {}): EventFacts => ({
  type,
  at: NOON,
  resource: 'orders/0',
  owner: 'alice',
  epoch: 43,
  data: {},
  ...changes,
});

function newBus(): { bus: EventBus; errors: object[] } {
  const errors: object[] = [];
  const logger: Logger = { ...silentLogger, error: (given) => void errors.push(given) };
  return { bus: new EventBus({ namespace: 'default', clock: new FakeClock({ wall: NOON }), logger }), errors };
}
const microtasks = async (): Promise<void> => {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
};

test('an event has an id of this process, its sentence and its actor', async () => {
  const { bus } = newBus();
  const heard: object[] = [];
  bus.on('lease.acquired', (event) => heard.push(event));
  bus.announce(facts('lease.acquired'));
  await microtasks();
  expect(heard).toEqual([
    {
      id: 'local-1',
      type: 'lease.acquired',
      at: '2026-01-02T12:00:00.000Z',
      wallAt: '2026-01-02T12:00:00.000Z',
      namespace: 'default',
      resource: 'orders/0',
      owner: 'alice',
      epoch: 43,
      actor: 'alice',
      sentence: 'Acquired orders/0, epoch 43',
      data: {},
    },
  ]);
});

test('a listener hears its type, * hears all, each once and in order', async () => {
  const { bus } = newBus();
  const heard: string[] = [];
  bus.on('lease.lost', (event) => heard.push(`lost ${event.id}`));
  bus.on('*', (event) => heard.push(`any ${event.id}`));
  for (const type of ['lease.acquired', 'lease.lost', 'lease.released'] as const) bus.announce(facts(type));
  await microtasks();
  expect(heard).toEqual(['any local-1', 'lost local-2', 'any local-2', 'any local-3']);
});

test('nothing is delivered inside announce, and what a listener announces comes after', async () => {
  const { bus } = newBus();
  const heard: string[] = [];
  bus.on('lease.lost', () => bus.announce(facts('lease.refused')));
  bus.on('*', (event) => heard.push(event.type));
  bus.announce(facts('lease.lost'));
  bus.announce(facts('lease.released'));
  expect(heard).toEqual([]);
  await microtasks();
  expect(heard).toEqual(['lease.lost', 'lease.released', 'lease.refused']);
});

test('who left before delivery hears nothing more, who came after the announcement neither', async () => {
  const { bus } = newBus();
  const heard: string[] = [];
  const leave = bus.on('*', () => heard.push('left'));
  bus.announce(facts('lease.lost'));
  leave();
  leave();
  bus.on('*', () => heard.push('late'));
  await microtasks();
  expect(heard).toEqual([]);
});

test('S12: a listener that throws or rejects is logged and disturbs nobody', async () => {
  const { bus, errors } = newBus();
  const heard: string[] = [];
  const thrown = new Error('thrown');
  const rejected = new Error('rejected');
  bus.on('*', () => {
    throw thrown;
  });
  const rejects = (): unknown => Promise.reject(rejected);
  bus.on('*', rejects);
  bus.on('*', (event) => heard.push(event.type));
  expect(() => bus.announce(facts('lease.lost'))).not.toThrow();
  await microtasks();
  expect(heard).toEqual(['lease.lost']);
  expect(errors).toMatchObject([{ err: thrown, type: 'lease.lost', eventId: 'local-1' }, { err: rejected }]);
});

test('S12: facts that cannot be put into words are logged, and the next event goes out', async () => {
  const { bus, errors } = newBus();
  const heard: string[] = [];
  bus.on('*', (event) => heard.push(event.type));
  expect(() => bus.announce(facts('lease.lost', { at: NaN }))).not.toThrow();
  bus.announce(facts('lease.released'));
  await microtasks();
  expect(heard).toEqual(['lease.released']);
  expect(errors).toHaveLength(1);
});

test('without a listener for it an event is not even built', () => {
  const { bus, errors } = newBus();
  bus.on('lease.acquired', () => undefined);
  bus.announce(facts('lease.lost', { at: NaN }));
  expect(errors).toEqual([]);
});

test('an unknown type is refused with the ones there are', () => {
  const { bus } = newBus();
  const message = invalidMessage(() => bus.on('lease.gone' as EventType, () => undefined));
  expect(message).toContain('"lease.gone"');
  expect(message).toContain('lease.acquired');
  expect(message).toContain('events.lost');
  expect(invalidMessage(() => bus.on('*', 'print' as unknown as () => void))).toContain('a listener is a function');
});
