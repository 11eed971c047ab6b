// W2: the HTTP store passes the conformance suite over a server that stands on SQLite, as `holdfast serve` does by default.
import { describe, test } from 'vitest';
import { storeConformance } from '../../src/testing/store-conformance/index.js';
import { httpHarness } from '../support/http-harness.js';
import { sqliteHarness } from '../support/sqlite-harness.js';

storeConformance(httpHarness('HTTP over SQLite (W2)', sqliteHarness), { describe, test, skip: test.skip });
