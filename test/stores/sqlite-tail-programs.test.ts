// The conformance suite and random programs over tails of different lengths: what is indexed, and when, changes no answer.
import { describe, test } from 'vitest';
import { storeConformance } from '../../src/testing/store-conformance/index.js';
import { randomPrograms } from '../../src/testing/store-conformance/random-programs.js';
import { sqliteTailHarness } from '../support/sqlite-harness.js';

storeConformance(sqliteTailHarness, { describe, test, skip: test.skip });
randomPrograms(sqliteTailHarness, { describe, test });
