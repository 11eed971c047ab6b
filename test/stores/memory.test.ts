// The memory store, which is the model, passes the conformance suite.
import { describe, test } from 'vitest';
import { storeConformance } from '../../src/testing/store-conformance/index.js';
import { memoryHarness } from './memory-harness.js';

storeConformance(memoryHarness(), { describe, test, skip: test.skip });
