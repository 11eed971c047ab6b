// Random programs about sequences on PostgreSQL, compared with the model.
import { afterAll, beforeAll, describe, test } from 'vitest';
import { sequencePrograms } from '../../src/testing/store-conformance/sequence/programs.js';
import { postgresHarness, PostgresSite } from '../support/postgres-harness.js';
import { isSkipped } from '../support/servers/server-process.js';

describe.skipIf(isSkipped('postgres'))('on a server of its own', () => {
  let site: PostgresSite;
  beforeAll(async () => {
    site = await PostgresSite.start();
  });
  afterAll(() => site.stop());

  sequencePrograms(
    postgresHarness(() => site),
    { describe, test },
    { programs: 100 }, // each opens three connections to a server
  );
});
