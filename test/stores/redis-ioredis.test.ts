// The caller's own client of ioredis, 5 and 6: the conformance suite as it runs by url, and some of the random programs. What the
// library makes of replies, databases, channels and lost connections must not show in any answer.
import { afterAll, beforeAll, describe, test } from 'vitest';
import { storeConformance } from '../../src/testing/store-conformance/index.js';
import { randomPrograms } from '../../src/testing/store-conformance/random-programs.js';
import { SINGLE_CLIENTS } from '../support/redis-clients.js';
import { redisHarness } from '../support/redis-harness.js';
import { isSkipped } from '../support/servers/server-process.js';

const PROGRAMS = 30;

describe.skipIf(isSkipped('redis')).each(['ioredis 5', 'ioredis 6'])('a real Redis through the caller’s %s', (kind) => {
  const through = SINGLE_CLIENTS[kind];
  if (through === undefined) throw new Error(`there is no ${kind}`);
  const harness = { ...redisHarness({ durable: true, through }), name: `Redis through ${kind}` };
  beforeAll(harness.start);
  afterAll(harness.stop);

  storeConformance(harness, { describe, test, skip: test.skip });
  if (kind === 'ioredis 6') randomPrograms(harness, { describe, test }, { programs: PROGRAMS });
});
