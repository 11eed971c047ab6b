// Holds src/ against the import table, and shows on made-up files that the check can fail.

import { describe, expect, test } from 'vitest';
import { forbiddenImports } from './import-rules.js';
import { readTree } from './tree.js';

const check = (path: string, source: string) => forbiddenImports(new Map([[path, source]]));

test('every import in src is one the table allows', () => {
  expect(forbiddenImports(readTree('src'))).toEqual([]);
});

describe('the check fails on', () => {
  test.each([
    ['domain that reaches for a store', 'src/domain/lease.ts', `import { x } from '../stores/store.js';`],
    ['a type-only import', 'src/domain/lease.ts', `import type { Store } from '../stores/store.js';`],
    ['an inline type', 'src/domain/lease.ts', `let s: import('../stores/store.js').Store;`],
    ['a re-export', 'src/domain/lease.ts', `export * from '../manager/held-lease.js';`],
    ['a dynamic import', 'src/domain/lease.ts', `await import('../manager/held-lease.js');`],
    ['a worker', 'src/domain/lease.ts', `new Worker(new URL('../manager/w.js', import.meta.url));`],
    ['a builtin in domain', 'src/domain/id.ts', `import { randomUUID } from 'node:crypto';`],
    ['a package in domain', 'src/domain/id.ts', `import fc from 'fast-check';`],
    ['a package in manager', 'src/manager/waiting.ts', `import pino from 'pino';`],
    ['a package in the memory store', 'src/stores/memory/model.ts', `import Database from 'better-sqlite3';`],
    ['another store', 'src/stores/sqlite/index.ts', `import { model } from '../memory/model.js';`],
    ['a store nobody listed that loads another', 'src/stores/etcd/index.ts', `import '../memory/model.js';`],
    ['a driver of another store', 'src/stores/sqlite/index.ts', `import pg from 'pg';`],
    ['the port that knows a store', 'src/stores/store.ts', `import type { M } from './memory/model.js';`],
    ['a store in manager', 'src/manager/waiting.ts', `import '../stores/memory/index.js';`],
    ['testing that knows sqlite', 'src/testing/index.ts', `import '../stores/sqlite/index.js';`],
    ['a builtin without its prefix', 'src/manager/waiting.ts', `import { join } from 'path';`],
    ['the package by its own name', 'src/testing/index.ts', `import 'holdfast';`],
    ['the real clock in the core', 'src/manager/waiting.ts', `import '../system-clock.js';`],
    ['a folder without a rule', 'src/helpers/misc.ts', `export {};`],
  ])('%s', (_what, path, source) => {
    expect(check(path, source)).toHaveLength(1);
  });
});

describe('the check lets pass', () => {
  test.each([
    ['a neighbour', 'src/domain/lease.ts', `import { y } from './epoch.js';`],
    ['a folder below its own', 'src/stores/sqlite/index.ts', `import './sql/schema.js';`],
    ['a folder above, of the same store', 'src/stores/sqlite/sql/schema.ts', `import '../file.js';`],
    ['the driver of a store', 'src/stores/sqlite/file.ts', `import Database from 'better-sqlite3';`],
    ['the port', 'src/stores/memory/model.ts', `import type { Store } from '../store.js';`],
    ['the composition root', 'src/connect.ts', `import './stores/open-store.js';\nimport './system-clock.js';`],
    ['an import in a comment', 'src/domain/lease.ts', `// import x from '../connect.js';`],
    ['a test', 'src/domain/lease.test.ts', `import { FakeClock } from '../testing/fake-clock.js';`],
  ])('%s', (_what, path, source) => {
    expect(check(path, source)).toEqual([]);
  });
});
