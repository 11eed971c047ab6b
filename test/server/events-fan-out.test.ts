// 200 clients of the event stream while 500 leases a second change hands (W1): every client sees the whole log, in order, once.
// Server, clients and holders are three processes, as they are in life. How late events come is printed; the bound here is a
// loose one, for machines that do other things too.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { connect } from '../../src/index.js';
import { commandSite } from '../support/command-site.js';

const site = commandSite();
const CLIENTS = 200;
const PER_SECOND = 500;
const SECONDS = 5;
const LATEST_MS = 15_000;

interface Report {
  counts: number[];
  sums: string[];
  late: { p50: number; p99: number; max: number; of: number };
}

test('W1: nothing is missing and nothing twice for 200 clients while 500 leases a second change hands', async () => {
  const server = site.start('serve', '--port', '0');
  const url = (await server.says(/http:\/\/127\.0\.0\.1:\d+/)).trim();
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 10_000 }).toBe(200);
  const program = fileURLToPath(new URL('../support/event-clients-child.mjs', import.meta.url));
  const child = spawn(process.execPath, [program], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const tell = async (order: object): Promise<unknown> => {
    const answer = once(lines, 'line');
    child.stdin.write(`${JSON.stringify(order)}\n`);
    return JSON.parse(String((await answer)[0])) as unknown;
  };
  try {
    expect(await tell({ open: CLIENTS, url: `${url}/v1/events` })).toEqual({ open: CLIENTS });
    const leases = await connect(site.url, { services: 'off', owner: 'worker' });
    const began = performance.now();
    let done = 0;
    while (done < PER_SECOND * SECONDS) {
      const due = Math.min(PER_SECOND * SECONDS, ((performance.now() - began) / 1_000) * PER_SECOND);
      const batch = Array.from({ length: Math.max(0, Math.floor(due) - done) }, (_, n) => `orders/${done + n}`);
      await Promise.all(batch.map(async (name) => (await leases.acquire(name, { ttl: '1m' })).release()));
      done += batch.length;
      await pause(2);
    }
    const perSecond = done / ((performance.now() - began) / 1_000);
    const hash = createHash('sha1');
    const ids: string[] = [];
    for (let cursor: string | undefined; ;) {
      const page = await leases.history({ limit: 1_000, ...(cursor === undefined ? {} : { cursor }) });
      ids.unshift(...page.items.map(({ id }) => id).reverse());
      if (page.cursor === undefined) break;
      ({ cursor } = page);
    }
    await leases.shutdown();
    expect(ids).toHaveLength(2 * PER_SECOND * SECONDS);
    for (const id of ids) hash.update(id);
    const { counts, sums, late } = (await tell({ sum: ids.length })) as Report;
    console.log(
      `${Math.round(perSecond)} leases/s, ${CLIENTS} clients, ms from commit to client: ${JSON.stringify(late)}`,
    );
    expect(counts).toEqual([ids.length]);
    expect(sums).toEqual([hash.digest('hex')]);
    expect(late.p99).toBeLessThan(LATEST_MS);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});
