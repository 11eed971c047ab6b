// The crowd on one PostgreSQL server.
import { describe } from 'vitest';
import { isSkipped } from '../../support/servers/server-process.js';
import { testCrowd } from './run-store.js';

describe.skipIf(isSkipped('postgres'))('a crowd on PostgreSQL', () => {
  testCrowd('postgres', 'S1, S2, S11, S12, S15, G1: processes, connections, the server, its disk and its clock fail');
});
