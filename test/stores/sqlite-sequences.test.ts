// Random programs about sequences on SQLite, compared with the model.
import { describe, test } from 'vitest';
import { sequencePrograms } from '../../src/testing/store-conformance/sequence/programs.js';
import { sqliteHarness } from '../support/sqlite-harness.js';

sequencePrograms(sqliteHarness, { describe, test });
