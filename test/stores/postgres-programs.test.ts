// Random programs on PostgreSQL, compared with the model.
import { afterAll, beforeAll, describe, test } from 'vitest';
import { longLinePrograms } from '../../src/testing/store-conformance/long-line-programs.js';
import { randomPrograms } from '../../src/testing/store-conformance/random-programs.js';
import { postgresHarness, PostgresSite } from '../support/postgres-harness.js';
import { isSkipped } from '../support/servers/server-process.js';

describe.skipIf(isSkipped('postgres'))('on a server of its own', () => {
  let site: PostgresSite;
  beforeAll(async () => {
    site = await PostgresSite.start();
  });
  afterAll(() => site.stop());

  const harness = postgresHarness(() => site);
  randomPrograms(harness, { describe, test }, { programs: 100 }); // each opens four connections to a server; near 2^53 ten more
  longLinePrograms(harness, { describe, test });
});
