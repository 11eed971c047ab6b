// From a URL to a store: what is known, what is planned and refused by name, and where the data is without a URL.
import { existsSync, readdirSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.js';
import { FakeClock } from '../testing/fake-clock.js';
import { defaultStoreUrl, openStore } from './open-store.js';

const options = { clock: new FakeClock(), namespace: 'here', migrate: 'auto' } as const;
let folder: TemporaryFolder;

beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

describe('schemes', () => {
  test('memory and sqlite, whatever the case', async () => {
    for (const url of ['memory:', 'MEMORY:', `sqlite:${folder.path}/a.db`, `SQLite:${folder.path}/b.db`]) {
      const store = await openStore(url, options);
      expect(store.namespace).toBe('here');
      await store.close();
    }
    expect(readdirSync(folder.path).filter((name) => name.endsWith('.db'))).toEqual(['a.db', 'b.db']);
  });

  test('etcd: is refused by name, and the known ones are listed', async () => {
    await expect(openStore('etcd://h', options)).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
      message: expect.stringMatching(/^etcd: is not supported by this version: known are memory:, sqlite:/) as string,
    });
  });

  test.each(['mysql://h/db', 'leases.db', '', ':memory:', 'constructor:x', '__proto__:x'])(
    '%s names no store: the known ones are listed',
    async (url) => {
      await expect(openStore(url, options)).rejects.toThrow(/names no store: known are memory:, sqlite:/);
    },
  );

  test('a message never shows a password', async () => {
    const failed = openStore('mysql://me:secret@host/db', options);
    await expect(failed).rejects.toThrow(/mysql:\/\/…@host/);
    await expect(failed).rejects.not.toThrow(/secret/);
  });
});

describe('C1: without a URL', () => {
  test('HOLDFAST_STORE, else a file in the state directory, made for its owner alone', () => {
    expect(defaultStoreUrl({ HOLDFAST_STORE: 'memory:' })).toBe('memory:');
    const url = defaultStoreUrl({ HOLDFAST_STORE: '', XDG_STATE_HOME: folder.path });
    expect(url).toBe(`sqlite:${folder.path}/holdfast/leases.db`);
    expect(existsSync(`${folder.path}/holdfast`)).toBe(true);
    expect(statSync(`${folder.path}/holdfast`).mode & 0o777).toBe(0o700);
  });
});
