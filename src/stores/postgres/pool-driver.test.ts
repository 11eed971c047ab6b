// The driver is an optional package, and what a caller brings is looked at.
import { expect, test, vi } from 'vitest';
import { checkPool, loadDriver } from './pool-driver.js';

test('A11: without pg the error says what to install', async () => {
  vi.doMock('pg', () => {
    throw new Error('Cannot find package');
  });
  const failed = loadDriver();
  await expect(failed).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', cause: expect.anything() as unknown });
  await expect(failed).rejects.toThrow('npm install pg');
});

test('A11: a pool that was ended is refused', () => {
  const pool = { connect: () => undefined, on: () => undefined, totalCount: 0, options: {}, ending: true };
  expect(() => checkPool(pool)).toThrow(/was ended/);
});
