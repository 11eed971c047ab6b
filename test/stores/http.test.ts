// W2: the HTTP store passes the conformance suite, over a server that stands on the memory store.
import { describe, test } from 'vitest';
import { storeConformance } from '../../src/testing/store-conformance/index.js';
import { httpHarness } from '../support/http-harness.js';
import { memoryHarness } from './memory-harness.js';

storeConformance(httpHarness('HTTP (W2)', memoryHarness()), { describe, test, skip: test.skip });
