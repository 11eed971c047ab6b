// Which trouble ends with which code.
import { expect, test } from 'vitest';
import { LeaseError, type LeaseErrorCode } from '../domain/errors.js';
import { CommandError, exitCodeOf, usage } from './exit-codes.js';
import { nearest } from './nearest.js';

test.each<[LeaseErrorCode, number]>([
  ['INVALID_ARGUMENT', 64],
  ['STORE_UNAVAILABLE', 69],
  ['STORE_INCOMPATIBLE', 69],
  ['ACQUIRE_TIMEOUT', 75],
  ['DEADLOCK', 75],
  ['LEASE_LOST', 76],
  ['NOT_HELD', 76],
  ['MAX_HOLD', 76],
  ['UNAUTHORIZED', 77],
  ['FORBIDDEN', 77],
])('C1: %s is %i', (code, exit) => {
  expect(exitCodeOf(new LeaseError(code, 'x'))).toBe(exit);
});

test('C1: a command’s own end, bad usage, and what nobody foresaw', () => {
  expect(exitCodeOf(new CommandError(75, 'x'))).toBe(75);
  expect(exitCodeOf(usage('x'))).toBe(64);
  expect(exitCodeOf(new TypeError('x'))).toBe(70);
});

test('C1: the nearest known word, if any is near', () => {
  const known = ['acquire', 'release', 'renew', 'ls'];
  expect(nearest('aquire', known)).toBe('acquire');
  expect(nearest('relaese', known)).toBe('release');
  expect(nearest('lss', known)).toBe('ls');
  expect(nearest('frobnicate', known)).toBeUndefined();
});
