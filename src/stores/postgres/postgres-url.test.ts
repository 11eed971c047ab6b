// The url: what is refused, and what is ever shown of it.
import { expect, test } from 'vitest';
import { badUrl, checkPostgresUrl, isBareScheme, readAwake, serverName } from './postgres-url.js';

test.each(['postgres://h/db', 'postgresql://u:p@h:1/db', 'POSTGRES://h', 'postgres:///db?host=/run/postgresql'])(
  '%s may be one',
  (url) => {
    expect(checkPostgresUrl(url)).toBe(url);
  },
);

test.each(['', 'h/db', 'mysql://u:hush@h/db', 'postgres:h', undefined, 7])('%s is none', (url) => {
  expect(() => checkPostgresUrl(url, 'listenUrl')).toThrow(/^listenUrl does not begin with postgres:\/\//);
  expect(() => checkPostgresUrl(url)).not.toThrow(/hush/);
});

test.each([
  ['postgres://u:p%3F@h/db', 'postgres://u:p%3F@h/db', true],
  ['postgres://h/db?awake=false', 'postgres://h/db', false],
  ['postgres:?awake=false', 'postgres:', false],
  ['postgres://h/db?awake=true&sslmode=disable', 'postgres://h/db?sslmode=disable', true],
  ['postgres://h/db?options=-c%20a%3Db&awake=false&host=/run', 'postgres://h/db?options=-c%20a%3Db&host=/run', false],
  ['postgres://h/db?application_name=awake=x', 'postgres://h/db?application_name=awake=x', true],
])('%s leads the driver to %s, awake for answers that are nearly there: %s', (given, url, awake) => {
  expect(readAwake(given)).toEqual({ url, awake });
});

test('awake is a yes or a no', () => {
  expect(() => readAwake('postgres://u:hush@h?awake=no')).toThrow(/^awake is true or false, got "no"$/);
});

test('a scheme alone is for a caller who brings a pool', () => {
  expect(['postgres:', 'postgresql://', 'Postgres:///'].map(isBareScheme)).toEqual([true, true, true]);
  expect(['postgres://h', 'postgres:///db', 'redis:'].map(isBareScheme)).toEqual([false, false, false]);
});

test('what the driver could not read is told without the url, which has a password in it', () => {
  let thrown: unknown;
  try {
    new URL('postgres://u:hush@h:999999/db');
  } catch (error) {
    thrown = error;
  }
  const error = badUrl(thrown);
  expect(error.message).toContain('cannot be read');
  expect(JSON.stringify([error.message, error.details]) + String(error.cause)).not.toContain('hush');
  expect(badUrl(Object.assign(new Error('no'), { code: 'ENOENT', path: '/ca.crt' })).message).toContain('/ca.crt');
  expect(badUrl(new Error('Invalid sslnegotiation value')).message).toContain('Invalid sslnegotiation value');
});

test('host, port and database are shown', () => {
  expect(serverName({ host: 'h', port: 1, database: 'd' })).toBe('h:1/d');
  expect(serverName({})).toBe('localhost:5432/');
});
