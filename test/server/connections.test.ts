// Clients that are there no more, or take nothing (W5): what a server keeps for them has an end.
import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { ServeSite } from '../support/serve-site.js';

const site = new ServeSite();
/** Only Linux shows the timers of its connections. */
const TIMERS = '/proc/net/tcp';

describe('W5: connections that came to nothing', () => {
  test.runIf(existsSync(TIMERS))(
    'W5, Q2, S9: a client that vanished without a word is looked for, so that its ticket goes with it',
    async () => {
      const server = await site.serve();
      const { socket } = await site.raw(server);
      // A line of the kernel's table: local address, the other's, state, queues, and which timer runs; 02 looks for the other.
      const hex = (port: number | undefined): string => (port ?? 0).toString(16).toUpperCase().padStart(4, '0');
      const timer = (): string | undefined =>
        new RegExp(`:${hex(server.port)} \\w+:${hex(socket.localPort)} 01 \\S+ (\\w\\w):`).exec(
          readFileSync(TIMERS, 'utf8'),
        )?.[1];
      await expect.poll(timer).toBe('02');
    },
  );
});
