// W2: the HTTP store passes the conformance suite over a server that stands on SQLite, as `holdfast serve` does by default.
import { describe, test } from 'vitest';
import { storeConformance } from '../../src/testing/store-conformance/index.js';
import { httpHarness } from '../support/http-harness.js';
import { sqliteHarness } from '../support/sqlite-harness.js';

// A server listens to its store, so the fake clock has SQLite's looks at the file to go through, two hundred a second: days
// would take hours. The cases that need days are run over the store in memory (http.test.ts).
const capabilities = { ...sqliteHarness.capabilities, longestPassMs: 3_600_000 };

storeConformance(httpHarness('HTTP over SQLite (W2)', { ...sqliteHarness, capabilities }), {
  describe,
  test,
  skip: test.skip,
});
