// What a driver's error becomes (A11).
import { expect, test } from 'vitest';
import { sqlStateOf, translatePostgres } from './postgres-client.js';

const failed = (code: string): Error => Object.assign(new Error(`it failed: ${code}`), { code });

test.each([
  ['EPIPE', ''],
  ['ECONNRESET', ''],
  ['08006', '08006'],
  ['57P01', '57P01'],
])('G1, A11: %s is a connection that was lost, and retryable', (code, sqlState) => {
  const error = translatePostgres(failed(code));
  expect(sqlStateOf(failed(code))).toBe(sqlState);
  expect(error).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true, details: { sqlState } });
});

test('G1, A11: what the server says of the statement is not', () => {
  expect(translatePostgres(failed('42703'))).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: false });
});
