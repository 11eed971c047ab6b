// The bounds on namespaces, of each token and of all, and on lists. Whose ticket is whose.
import { expect, test } from 'vitest';
import { silentLogger } from '../../observe/logger.js';
import { MemoryStore } from '../../stores/memory/index.js';
import { FakeClock } from '../../testing/fake-clock.js';
import { FaultyStore } from '../../testing/faulty-store.js';
import { DEFAULT_LIMITS, type Caller, type ServerContext } from '../context.js';
import { StoreCalls } from './calls.js';
import { Tickets } from './tickets.js';

const caller = (tokenId: string): Caller => ({
  tokenId,
  name: tokenId,
  role: 'write',
  prefix: undefined,
  owner: undefined,
});
const MOST = 10_000;
const AT_ONCE = 1_000;
const limited = { code: 'RATE_LIMITED' };

function stage(isHeard: (namespace: string) => boolean = () => false) {
  const clock = new FakeClock();
  const store = new FaultyStore(new MemoryStore({ clock }), clock);
  const context = { store, clock, logger: silentLogger, limits: DEFAULT_LIMITS };
  const calls = new StoreCalls(context as unknown as ServerContext, new Tickets(), isHeard);
  const run = (method: string, namespace: string, token: string, ...args: unknown[]): Promise<object> =>
    calls.run({ method, namespace, args }, { caller: caller(token), client: 'c' });
  return {
    clock,
    store,
    renew: (items: readonly object[]) => run('renew', store.namespace, 'a', items),
    look: (namespace: string, token: string) => run('time', namespace, token),
    write: (namespace: string, token: string) => run('sweep', namespace, token, { limit: 1 }),
  };
}

test('W5, W3: a token brings in so many namespaces at once, then one a second, and keeps nobody else from any', async () => {
  const { clock, store, look, write } = stage();
  for (let n = 0; n < AT_ONCE; n += 1) await look(`junk${n}`, 'a');
  await expect(look('one-more', 'a')).rejects.toMatchObject({ ...limited, details: { retryAfterMs: 1_000 } });
  await expect(write('one-more', 'a')).rejects.toMatchObject(limited);
  await expect(look('junk0', 'a')).resolves.toBeDefined();
  await expect(write('junk0', 'a')).resolves.toBeDefined();
  await expect(write(store.namespace, 'a')).resolves.toBeDefined();
  await expect(write('one-more', 'b')).resolves.toBeDefined();
  await expect(look('one-more', 'a')).resolves.toBeDefined();
  await clock.advance(1_000);
  await expect(look('another', 'a')).resolves.toBeDefined();
});

test('W5: of too many namespaces that were only looked at the oldest that nobody hears is forgotten', async () => {
  const heard = new Set(['look0']);
  const { look } = stage((namespace) => heard.has(namespace));
  const byTokens = async (from: number, to: number): Promise<void> => {
    for (let n = from; n < to; n += 1) await look(`look${n}`, `t${Math.floor(n / AT_ONCE)}`);
  };
  await byTokens(0, MOST);
  await expect(look('look0', 't0')).resolves.toBeDefined();
  await expect(look('one-more', 'u')).resolves.toBeDefined();
  await expect(look('look1', 't0')).rejects.toMatchObject(limited); // forgotten: it would be one more of this token
  await expect(look('look0', 't0')).resolves.toBeDefined();
  for (let n = 0; n < MOST; n += 1) heard.add(`look${n}`);
  await expect(look('two-more', 'u')).rejects.toMatchObject(limited);
});

test('W5: there is a bound on namespaces that are written in', async () => {
  const { look, write } = stage();
  for (let n = 0; n < MOST; n += 1) await write(`n${n}`, `t${Math.floor(n / AT_ONCE)}`);
  await expect(write('one-more', 'u')).rejects.toMatchObject(limited);
  await expect(write('n0', 'u')).resolves.toBeDefined();
  await expect(look('one-more', 'u')).resolves.toMatchObject({ now: expect.any(Number) as number });
});

test('S18, W5: a list that is too long is refused before its items are looked at, and before the store is asked', async () => {
  const { store, renew } = stage();
  const items = (count: number, item: object = {}) =>
    Array.from({ length: count }, (_, n) => ({
      ...{ id: `an-id-of-a-lease-${n}`, epoch: 1, requestId: 'r', callerWall: 0 },
      ...item,
    }));
  const refused = { code: 'INVALID_ARGUMENT', message: 'a batch has at most 256 items, got 300: split it' };
  await expect(renew(items(300))).rejects.toMatchObject(refused);
  expect(store.count()).toBe(0);
  await expect(renew(items(300, { extra: 1 }))).rejects.toMatchObject(refused);
  await renew(items(256));
  expect([store.count('get'), store.count('renew')]).toEqual([1, 1]);
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
