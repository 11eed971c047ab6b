// The PostgreSQL store passes the conformance suite.
import { afterAll, beforeAll, describe, test } from 'vitest';
import { storeConformance } from '../../src/testing/store-conformance/index.js';
import { postgresHarness, PostgresSite } from '../support/postgres-harness.js';
import { isSkipped } from '../support/servers/server-process.js';

describe.skipIf(isSkipped('postgres'))('on a server of its own', () => {
  let site: PostgresSite;
  beforeAll(async () => {
    site = await PostgresSite.start();
  });
  afterAll(() => site.stop());

  storeConformance(
    postgresHarness(() => site),
    { describe, test, skip: test.skip },
  );
});
