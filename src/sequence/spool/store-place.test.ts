// Which urls lead to one store, and which to two.
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { placeOf } from './store-place.js';

test('V7: user, password and settings do not make another store; host, path and schema do', () => {
  expect(placeOf('postgres://me:pw@db:5432/app?sslmode=require')).toBe(placeOf('postgres://you@db:5432/app'));
  expect(placeOf('postgres://me:p@w@db/app')).not.toContain('w@');
  expect(placeOf('postgres://db/app')).not.toBe(placeOf('postgres://db/app', 'staging'));
  expect(placeOf('redis://a:6379/0')).not.toBe(placeOf('redis://b:6379/0'));
  expect(placeOf('sqlite:leases.db')).toBe(placeOf(`sqlite:${resolve('leases.db')}?synchronous=full`));
  expect(placeOf('sqlite:///tmp/leases.db')).toBe('/tmp/leases.db');
  expect(placeOf('memory:')).toBe('');
});
