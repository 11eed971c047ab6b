// The Redis store passes the conformance suite.
import { afterAll, beforeAll, describe, test } from 'vitest';
import { storeConformance } from '../../src/testing/store-conformance/index.js';
import { redisHarness } from '../support/redis-harness.js';
import { isSkipped } from '../support/servers/server-process.js';

describe.skipIf(isSkipped('redis'))('a real Redis', () => {
  const harness = redisHarness({ durable: true });
  beforeAll(harness.start);
  afterAll(harness.stop);

  storeConformance(harness, { describe, test, skip: test.skip });
});
