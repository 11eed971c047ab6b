// The crowd on one Redis server.
import { describe } from 'vitest';
import { isSkipped } from '../../support/servers/server-process.js';
import { testCrowd } from './run-store.js';

describe.skipIf(isSkipped('redis'))('a crowd on Redis', () => {
  testCrowd('redis', 'S1, S2, S11, S12, S15, G3: processes, connections, the server, its disk and its clock fail');
});
