// Two servers on one file, as processes (O2, O3): a library client's lease shows in the figures of both, they agree, and both show
// how the alerts stand.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { connect } from '../../src/index.js';
import { commandSite } from '../support/command-site.js';
import { namespaceLines, valueIn } from '../support/observing-site.js';
import { findBinary, isSkipped } from '../support/servers/server-process.js';

const site = commandSite();

async function serve(): Promise<string> {
  const server = site.start('serve', '--port', '0');
  const url = await server.says(/http:\/\/127\.0\.0\.1:\d+/);
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status, { timeout: 30_000 }).toBe(200);
  return url;
}
const textOf = async (url: string): Promise<string> => (await fetch(`${url}/metrics`)).text();

test('O2, O3, W1: two served processes tell the same about a library client', async () => {
  const [one, two] = [await serve(), await serve()];
  const active = 'active_leases{status="active"}';
  for (const url of [one, two]) {
    await expect.poll(async () => valueIn(await textOf(url), active), { timeout: 30_000 }).toBe(0);
  }
  const leases = await connect(site.url, { services: 'off' });
  await leases.withLease('invoices/0', async () => undefined);
  await leases.acquire('invoices/1', { ttl: '5m' });
  const [first, second] = [await textOf(one), await textOf(two)];
  expect(namespaceLines(first)).toEqual(namespaceLines(second));
  expect([valueIn(first, active), valueIn(first, 'lease_acquisitions_total{result="success"}')]).toEqual([1, 2]);
  expect(first).not.toContain('invoices');
  await leases.shutdown();
  for (const url of [one, two]) {
    const { items } = (await (await fetch(`${url}/v1/alerts`)).json()) as { items: { alert: string; state: string }[] };
    expect(items).toHaveLength(8);
  }
});

test.skipIf(isSkipped('promtool'))('O2: promtool has nothing to say about what is served', async () => {
  const url = await serve();
  const answer = await fetch(`${url}/metrics`);
  expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  const input = await answer.text();
  const said = spawnSync(findBinary('promtool'), ['check', 'metrics'], { input, encoding: 'utf8' });
  expect([said.stdout, said.stderr, said.status]).toEqual(['', '', 0]);
});
