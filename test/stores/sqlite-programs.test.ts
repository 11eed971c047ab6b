// Random programs on SQLite, compared with the model.
import { describe, test } from 'vitest';
import { longLinePrograms } from '../../src/testing/store-conformance/long-line-programs.js';
import { randomPrograms } from '../../src/testing/store-conformance/random-programs.js';
import { sqliteHarness } from '../support/sqlite-harness.js';

randomPrograms(sqliteHarness, { describe, test });
longLinePrograms(sqliteHarness, { describe, test });
