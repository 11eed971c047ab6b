// No real time, timers, randomness or ids outside the one file for them; and the check can fail.

import { describe, expect, test } from 'vitest';
import { bannedCalls, staleExceptions } from './banned-calls.js';
import { readTree } from './tree.js';

const check = (source: string, path = 'src/manager/x.ts') => bannedCalls(new Map([[path, source]]));

test('src takes time, timers, randomness and ids from the clock', () => {
  expect(bannedCalls(readTree('src'))).toEqual([]);
});

test('every exception is a file that exists', () => {
  expect(staleExceptions(readTree('src'))).toEqual([]);
  expect(staleExceptions(new Map())).not.toEqual([]);
});

describe('the check fails on', () => {
  test.each([
    'Date.now();',
    'const read = Date.now;',
    'globalThis.Date.now();',
    `Date['now']();`,
    'performance.now();',
    'new Date();',
    'new Date;',
    'Date();',
    'setTimeout(f, 1);',
    'globalThis.setTimeout(f, 1);',
    'const later = setTimeout;',
    'setInterval(f, 1);',
    'setImmediate(f);',
    `import { setTimeout as sleep } from 'node:timers/promises';`,
    'Math.random();',
    'crypto.randomUUID();',
    `import { randomUUID } from 'node:crypto';`,
    `import { randomBytes as bytes } from 'node:crypto';`,
    'nodeCrypto.randomBytes(8);',
    'crypto.getRandomValues(x);',
    'AbortSignal.timeout(5);',
    'process.hrtime();',
    'process.hrtime.bigint();',
    'const text = `${Date.now()}`;',
  ])('%s', (source) => {
    expect(check(source)).toHaveLength(1);
  });
});

describe('the check lets pass', () => {
  test.each([
    '// Date.now() is banned',
    '/* setTimeout(f, 1) */',
    `const text = 'Date.now() and setTimeout';`,
    'const text = `Math.random()`;',
    'const pattern = /setTimeout/;',
    'new Date(5);',
    'clock.setTimeout(f, 1);',
    'interface Clock { setTimeout(f: () => void, ms: number): void }',
    'let timer: ReturnType<typeof setTimeout>;',
    'clearTimeout(timer);',
  ])('%s', (source) => {
    expect(check(source)).toEqual([]);
  });

  test('the system clock and tests', () => {
    expect(check('Date.now();', 'src/system-clock.ts')).toEqual([]);
    expect(check('Date.now();', 'src/manager/x.test.ts')).toEqual([]);
  });
});
