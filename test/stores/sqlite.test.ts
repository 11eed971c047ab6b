// The SQLite store passes the conformance suite.
import { describe, test } from 'vitest';
import { storeConformance } from '../../src/testing/store-conformance/index.js';
import { sqliteHarness } from '../support/sqlite-harness.js';

storeConformance(sqliteHarness, { describe, test, skip: test.skip });
