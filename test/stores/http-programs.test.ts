// W2: random programs over HTTP, leases and sequences, compared with the model answer by answer.
import { describe, test } from 'vitest';
import { randomPrograms } from '../../src/testing/store-conformance/random-programs.js';
import { sequencePrograms } from '../../src/testing/store-conformance/sequence/programs.js';
import { httpHarness } from '../support/http-harness.js';
import { memoryHarness } from './memory-harness.js';

const harness = httpHarness('HTTP (W2)', memoryHarness());

randomPrograms(harness, { describe, test });
sequencePrograms(harness, { describe, test });
