// A misspelt option is refused wherever options are taken: left out in silence it would take with it what it protects.
import { describe, expect, test } from 'vitest';
import { connect, type Holdfast } from './index.js';
import { fileGate, guardSqlite, httpFence, memoryGate } from './guards/index.js';

async function opened(): Promise<Holdfast> {
  return connect('memory:', { services: 'off' });
}

/** Options as somebody writes them who is not held back by types. */
const misspelt = (options: object): never => options as never;

async function first(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items) return;
}

type Call = (leases: Holdfast) => unknown;
const CALLS: readonly (readonly [name: string, call: Call])[] = [
  ['a resource', (leases) => leases.acquire(misspelt([{ name: 'reports', scop: 'subtree' }]))],
  ['acquire', (leases) => leases.acquire('x', misspelt({ tll: '1s' }))],
  ['revoke', (leases) => leases.revoke(misspelt({ resource: 'x', reason: 'r', keepout: '1h' }))],
  ['list', (leases) => leases.list(misspelt({ statuss: 'active' }))],
  ['history', (leases) => leases.history(misspelt({ prefx: 'a' }))],
  ['watch', (leases) => first(leases.watch(misspelt({ prefx: 'a' })))],
  ['files', (leases) => leases.files('.', misspelt({ nam: 'app' }))],
  ['sequence', (leases) => leases.sequence('s', misspelt({ spol: '/tmp' }))],
  ['lease', (leases) => leases.sequence('s').lease(misspelt({ operationId: 'o', kind: 'k', tll: 1 }))],
  ['no options of lease', (leases) => leases.sequence('s').lease(undefined as never)],
  ['waitFor', (leases) => leases.sequence('s').waitFor(1, misspelt({ timeoutt: 1 }))],
  [
    'follow',
    (leases) =>
      first(
        leases
          .sequence('s')
          .reader('r')
          .follow(misspelt({ sgnal: 1 })),
      ),
  ],
  ['shutdown', (leases) => leases.shutdown(misspelt({ drian: '1s' }))],
  ['releaseOnExit', (leases) => leases.releaseOnExit(misspelt({ drian: '1s' }))],
  ['fileGate', () => fileGate('.', misspelt({ clok: 1 }))],
  ['httpFence', () => httpFence(memoryGate(), misspelt({ process: 'one' }))],
];

describe('A11: an unknown option', () => {
  test.each(CALLS)('of %s is refused, with those there are', async (_, call) => {
    const leases = await opened();
    try {
      await expect((async () => call(leases))()).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' });
      expect((await leases.list()).items).toEqual([]);
    } finally {
      await leases.shutdown();
    }
  });

  test('of a handle is refused: upgrade, commit', async () => {
    const leases = await opened();
    const lease = await leases.acquire('x', { mode: 'shared' });
    await expect(lease.upgrade(misspelt({ wiat: 0 }))).rejects.toThrow(
      /unknown option "wiat" of upgrade: known are wait, signal/,
    );
    const number = await leases.sequence('s').lease({ operationId: 'o', kind: 'k' });
    await expect(number.commit(1, misspelt({ orderd: true }))).rejects.toThrow(/unknown option "orderd" of commit/);
    expect(number.isHeld).toBe(true);
    await leases.shutdown();
  });

  test('of guardSqlite is refused', async () => {
    const { default: Database } = await import('better-sqlite3');
    const leases = await opened();
    const lease = await leases.acquire('x');
    const db = new Database(':memory:');
    const write = db.transaction(() => guardSqlite(db, lease, misspelt({ tabel: 'gate' })));
    expect(write).toThrow(/unknown option "tabel" of guardSqlite: known are table/);
    db.close();
    await leases.shutdown();
  });
});
