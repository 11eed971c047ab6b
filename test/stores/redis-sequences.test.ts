// Random programs about sequences on Redis, compared with the model.
import { afterAll, beforeAll, describe, test } from 'vitest';
import { sequencePrograms } from '../../src/testing/store-conformance/sequence/programs.js';
import { redisHarness } from '../support/redis-harness.js';
import { isSkipped } from '../support/servers/server-process.js';

describe.skipIf(isSkipped('redis'))('a real Redis', () => {
  const harness = redisHarness();
  beforeAll(harness.start);
  afterAll(harness.stop);

  sequencePrograms(harness, { describe, test }, { programs: 120 });
});
