// Random programs on Redis, compared with the model.
import { afterAll, beforeAll, describe, test } from 'vitest';
import { longLinePrograms } from '../../src/testing/store-conformance/long-line-programs.js';
import { randomPrograms } from '../../src/testing/store-conformance/random-programs.js';
import { redisHarness } from '../support/redis-harness.js';
import { isSkipped } from '../support/servers/server-process.js';

describe.skipIf(isSkipped('redis'))('a real Redis', () => {
  const harness = redisHarness();
  beforeAll(harness.start);
  afterAll(harness.stop);

  randomPrograms(harness, { describe, test }, { programs: 200 });
  longLinePrograms(harness, { describe, test });
});
