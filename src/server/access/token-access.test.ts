// Tokens followed over the model's own store, by clocks that are told to move: what a view of them is worth, and for how long.
import { describe, expect, test } from 'vitest';
import { LeaseError } from '../../domain/errors.js';
import { silentLogger } from '../../observe/logger.js';
import { MemoryStore } from '../../stores/memory/index.js';
import type { Store } from '../../stores/store.js';
import { FakeClock } from '../../testing/fake-clock.js';
import type { Caller } from '../context.js';
import { TokenAccess } from './token-access.js';

const admin: Caller = { tokenId: undefined, name: 'ops', role: 'admin', prefix: undefined, owner: undefined };

function stage(): { clock: FakeClock; store: Store; open: (store?: Store) => TokenAccess } {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock, namespace: 'default' });
  return { clock, store, open: (over = store) => new TokenAccess({ store: over, clock, logger: silentLogger }) };
}
const nameOf = (found: Caller | LeaseError): string => (found instanceof LeaseError ? found.code : found.name);

describe('W3: following tokens', () => {
  test('W3: made at one, known at the other at its next look; revoked likewise', async () => {
    const { clock, open } = stage();
    const [one, two] = [open(), open()];
    await Promise.all([one.start(), two.start()]);
    expect(nameOf(two.identify(undefined))).toBe('loopback');
    const { secret, token } = await one.create(admin, { name: 'ci', role: 'write' });
    expect(nameOf(one.identify(`Bearer ${secret}`))).toBe('ci');
    await clock.advance(500);
    expect(nameOf(two.identify(`Bearer ${secret}`))).toBe('ci');
    expect(nameOf(two.identify(undefined))).toBe('UNAUTHORIZED');
    const ended: string[] = [];
    two.onEnd(two.identify(`Bearer ${secret}`) as Caller, ({ code }) => ended.push(code));
    await one.revoke(admin, token.id);
    expect(nameOf(one.identify(`Bearer ${secret}`))).toBe('UNAUTHORIZED');
    await clock.advance(500);
    expect(nameOf(two.identify(`Bearer ${secret}`))).toBe('UNAUTHORIZED');
    expect(ended).toEqual(['UNAUTHORIZED']);
    one.stop();
    two.stop();
  });

  test('W3: a view older than a second is not fresh, and is made so or fails', async () => {
    const { clock, store, open } = stage();
    let isAway = false;
    const away = new LeaseError('STORE_UNAVAILABLE', 'away');
    const flaky = withReads(store, () => (isAway ? away : undefined));
    const access = open(flaky);
    await access.start();
    isAway = true;
    await clock.advance(999);
    expect(access.isFresh).toBe(true);
    await clock.advance(1);
    expect(access.isFresh).toBe(false);
    await expect(access.refresh()).rejects.toBe(away);
    isAway = false;
    await access.refresh();
    expect(access.isFresh).toBe(true);
    access.stop();
  });

  test('W3: before the store has answered nothing is known; it is followed all the same', async () => {
    const { clock, store, open } = stage();
    let isAway = true;
    const access = open(withReads(store, () => (isAway ? new LeaseError('STORE_UNAVAILABLE', 'away') : undefined)));
    await expect(access.start()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect([access.isKnown, access.isFresh]).toEqual([false, false]);
    isAway = false;
    await clock.advance(500);
    expect([access.isKnown, access.isFresh]).toEqual([true, true]);
    access.stop();
  });

  test("W3: expiry goes by the store's clock: a step of the wall changes nothing", async () => {
    const { clock, open } = stage();
    const access = open();
    await access.start();
    const { secret } = await access.create(admin, { name: 'brief', role: 'read', expiresInMs: 10_000 });
    const found = access.identify(`Bearer ${secret}`) as Caller;
    const ended: string[] = [];
    access.onEnd(found, ({ message }) => ended.push(message));
    clock.stepWall(3_600_000);
    await clock.advance(9_900);
    expect(nameOf(access.identify(`Bearer ${secret}`))).toBe('brief');
    await clock.advance(600);
    expect(access.identify(`Bearer ${secret}`)).toMatchObject({ message: 'this token has expired: ask for a new one' });
    expect(ended).toHaveLength(1);
    access.stop();
  });

  test('W3: a token ends no later than its maker, and acts as the owner its maker is bound to', async () => {
    const { clock, open } = stage();
    const access = open();
    await access.start();
    const maker = await access.create(admin, { name: 'brief', role: 'admin', owner: 'ops', expiresInMs: 2_000 });
    await clock.advance(400);
    const by = access.identify(`Bearer ${maker.secret}`) as Caller;
    const wanted = { name: 'heir', role: 'admin' } as const;
    const forbidden = { code: 'FORBIDDEN' };
    await expect(access.create(by, { ...wanted, expiresInMs: 60_000 })).rejects.toMatchObject(forbidden);
    await expect(access.create(by, { ...wanted, owner: 'root' })).rejects.toMatchObject(forbidden);
    const { token } = await access.create(by, wanted);
    expect(token).toMatchObject({ owner: 'ops', expiresAt: maker.token.expiresAt });
    const shorter = await access.create(by, { ...wanted, name: 'shorter', expiresInMs: 1_000 });
    expect(shorter.token.expiresAt).toBe((maker.token.expiresAt ?? 0) - 600);
    await access.revoke(admin, 'brief');
    await expect(access.create(by, { ...wanted, name: 'late' })).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    access.stop();
  });

  test('W3, W4: when the data is replaced its tokens count no more, and the door stays shut', async () => {
    const { clock, store, open } = stage();
    let current: Store = store;
    const access = open(switching(() => current));
    await access.start();
    const { secret } = await access.create(admin, { name: 'ci', role: 'write' });
    current = new MemoryStore({ clock, namespace: 'default' });
    await clock.advance(500);
    expect(nameOf(access.identify(`Bearer ${secret}`))).toBe('UNAUTHORIZED');
    expect(nameOf(access.identify(undefined))).toBe('UNAUTHORIZED');
    expect(access.hasTokens).toBe(true);
    access.stop();
  });

  test('W3, S15: while replaced data is read anew its callers are known as before, until it was read to its end', async () => {
    const { clock, store, open } = stage();
    let current: Store = store;
    let trouble: (from: number) => Trouble = () => undefined;
    const follow = withReads(
      switching(() => current),
      (from) => trouble(from),
    );
    const access = open(follow);
    await access.start();
    const made = [
      await access.create(admin, { name: 'ci', role: 'write' }),
      await access.create(admin, { name: 'old', role: 'write' }),
    ];
    const names = (): string[] => made.map(({ secret }) => nameOf(access.identify(`Bearer ${secret}`)));
    const copy = new MemoryStore({ clock, namespace: 'default' });
    await append(copy, Array<null>(999).fill(null)); // a first page without any token, then both, then a revocation
    await append(copy, [null, ...(await operations(store))]);
    const revocation = { act: 'revoke', id: made[1]?.token.id, by: 'x', at: 1 };
    await append(copy, [revocation]);

    trouble = (from) => (from === 1 ? new LeaseError('STORE_UNAVAILABLE', 'away') : undefined);
    current = copy;
    await clock.advance(500);
    expect([names(), access.isFresh]).toEqual([['ci', 'old'], true]);
    let answer = (): void => undefined;
    const late = new Promise<void>((resolve) => {
      answer = resolve;
    });
    trouble = (from) => (from === 1_001 ? late : undefined);
    await clock.advance(499);
    expect([names(), access.isFresh]).toEqual([['ci', 'old'], true]);
    await clock.advance(1);
    expect([names(), access.hasTokens, access.isFresh]).toEqual([['ci', 'old'], true, false]);
    answer();
    await access.refresh();
    expect([names(), access.isFresh]).toEqual([['ci', 'UNAUTHORIZED'], true]);
    access.stop();
  });

  test('W3: what makes no sense in the stream is passed over', async () => {
    const { store, open } = stage();
    const junk = [null, 7, 'x', { act: 'create', id: 'x' }, { act: 'revoke', id: '0123456789abcdef' }];
    await append(store, junk);
    const access = open();
    await access.start();
    const { secret } = await access.create(admin, { name: 'ci', role: 'write' });
    expect(nameOf(access.identify(`Bearer ${secret}`))).toBe('ci');
    expect(await access.list(admin)).toHaveLength(1);
    access.stop();
  });

  test('W3: a store that keeps no sequences has no tokens, and says so', async () => {
    const { store, open } = stage();
    const access = open(without(store));
    await access.start();
    expect(nameOf(access.identify(undefined))).toBe('loopback');
    await expect(access.create(admin, { name: 'ci', role: 'read' })).rejects.toMatchObject({
      code: 'STORE_INCOMPATIBLE',
      message: expect.stringMatching(/keeps no sequences/) as string,
    });
  });
});

/** A read that fails, or is late. */
type Trouble = LeaseError | Promise<void> | undefined;

/** The same store, whose reads of streams fail or are late while told so. */
function withReads(store: Store, trouble: (from: number) => Trouble): Store {
  return over(store, (sequences) => ({
    read: async (order: Parameters<NonNullable<Store['sequences']>['read']>[0]) => {
      const met = trouble(order.from);
      if (met instanceof LeaseError) throw met;
      await met;
      return sequences.read(order);
    },
  }));
}
/** Into the stream of tokens, as another server or a copy of the data would. */
async function append(store: Store, given: readonly unknown[]): Promise<void> {
  const { sequences } = store.within('_holdfast-server');
  for (const [n, operation] of given.entries()) {
    const operationId = `given-${given.length}-${n}`;
    const request = { stream: 'tokens', operationId, kind: 'x', operations: [operation], owner: 'x' };
    await sequences?.append([{ ...request, type: 'recommitted' }]);
  }
}
async function operations(store: Store): Promise<unknown[]> {
  const order = { stream: 'tokens', from: 1, limit: 1_000, seal: false, watch: false };
  const read = await store.within('_holdfast-server').sequences?.read(order);
  return (read?.items ?? []).map(({ operation }) => operation);
}
function switching(current: () => Store): Store {
  return new Proxy({} as Store, {
    get: (_, key) =>
      key === 'within'
        ? (namespace: string) => switching(() => current().within(namespace))
        : key === 'sequences'
          ? new Proxy({}, { get: (__, method) => bound(current().sequences as object, method) })
          : bound(current(), key),
  });
}
function without(store: Store): Store {
  return new Proxy(store, {
    get: (target, key) =>
      key === 'within'
        ? (ns: string) => without(target.within(ns))
        : key === 'sequences'
          ? undefined
          : bound(target, key),
  });
}
function over(store: Store, change: (sequences: NonNullable<Store['sequences']>) => object): Store {
  return new Proxy(store, {
    get: (target, key) => {
      if (key === 'within') return (namespace: string) => over(target.within(namespace), change);
      if (key !== 'sequences' || !target.sequences) return bound(target, key);
      const { sequences } = target;
      const changed = change(sequences);
      return new Proxy(sequences, { get: (real, name) => bound(name in changed ? changed : real, name) });
    },
  });
}
function bound(target: object, key: PropertyKey): unknown {
  const value: unknown = Reflect.get(target, key);
  return typeof value === 'function' ? (value.bind(target) as unknown) : value;
}
