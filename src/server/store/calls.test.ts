// The bound on namespaces: for those who write, and out of reach of those who only look. Whose ticket is whose.
import { expect, test } from 'vitest';
import { silentLogger } from '../../observe/logger.js';
import { MemoryStore } from '../../stores/memory/index.js';
import { FakeClock } from '../../testing/fake-clock.js';
import { DEFAULT_LIMITS, type Caller, type ServerContext } from '../context.js';
import { StoreCalls } from './calls.js';
import { Tickets } from './tickets.js';

const caller: Caller = { tokenId: 'a1', name: 'ci', role: 'write', prefix: undefined, owner: undefined };
const MOST = 10_000;

test('W5: there is a bound on namespaces, and who only looks cannot use up those of who writes', async () => {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const context = { store, clock, logger: silentLogger, limits: DEFAULT_LIMITS };
  const calls = new StoreCalls(context as unknown as ServerContext, new Tickets());
  const run = (method: string, namespace: string, ...args: unknown[]): Promise<object> =>
    calls.run({ method, namespace, args }, { caller, client: 'c' });
  const look = (namespace: string): Promise<object> => run('time', namespace);
  const write = (namespace: string): Promise<object> => run('sweep', namespace, { limit: 1 });

  for (let n = 0; n < MOST; n += 1) await look(`look${n}`);
  await expect(look('one-more')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  for (let n = 0; n < MOST; n += 1) await write(`n${n}`);
  await expect(write('one-more')).rejects.toMatchObject({ code: 'RATE_LIMITED' });
  await expect(look('n1')).resolves.toMatchObject({ now: expect.any(Number) as number });
  await expect(write('n0')).resolves.toBeDefined();
  await expect(write(store.namespace)).resolves.toBeDefined();
});

test('Q3, W3: a ticket is of the client that asked for it first, from the question on, and of nobody else', () => {
  const tickets = new Tickets();
  const ticket = [{ id: 't', join: true }];
  tickets.asked('one', ticket);
  expect(tickets.clientOf('t')).toBe('one');
  tickets.asked('two', ticket);
  tickets.answered('two', ticket, [{ outcome: 'mismatch' }]);
  expect(tickets.clientOf('t')).toBe('one');
  tickets.answered('one', ticket, [{ outcome: 'queued' }]);
  expect(tickets.clientOf('t')).toBe('one');
  tickets.answered('one', ticket, [{ outcome: 'granted' }]);
  expect(tickets.clientOf('t')).toBeUndefined();
  tickets.asked('one', [{ id: 'u', join: false }]);
  expect(tickets.clientOf('u')).toBeUndefined();
});
