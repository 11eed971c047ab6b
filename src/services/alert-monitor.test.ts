// The alert monitor: raised and cleared once for all servers, kept over a restart, and told to log and event.
import { describe, expect, test } from 'vitest';
import { pass, serviceSite, type ServiceSite } from '../../test/support/service-site.js';
import type { EventFacts } from '../domain/events.js';
import { sentenceOf } from '../domain/events.js';
import { noTotals } from '../observe/log-totals.js';
import type { Store } from '../stores/store.js';
import { FaultyStore } from '../testing/faulty-store.js';
import { newCounts, type AlertFigures } from './alert-figures.js';
import { ALERTS_EVERY_MS, AlertMonitor } from './alert-monitor.js';

const MINUTE = 60_000;

interface Server {
  readonly monitor: AlertMonitor;
  readonly heard: EventFacts[];
  /** What this process has counted, and what the log adds up to as it sees it. */
  process: AlertFigures['process'];
  totals: AlertFigures['totals'];
  gaps: number;
}

function serverOn(site: Omit<ServiceSite, 'store'> & { readonly store: Store }, owner: string): Server {
  const heard: EventFacts[] = [];
  const server: Server = {
    heard,
    process: { ...newCounts(), skewMs: 0 },
    totals: noTotals(),
    gaps: 0,
    monitor: new AlertMonitor({
      ...site,
      owner,
      announce: (facts) => void heard.push(facts),
      figures: async () => ({ totals: server.totals, process: server.process, gaps: server.gaps }),
    }),
  };
  return server;
}
const ticks = (site: ServiceSite, count: number): Promise<void> =>
  pass(site.clock, ALERTS_EVERY_MS * count, count * 10);
const told = (servers: readonly Server[]): string[] =>
  servers.flatMap(({ heard }) => heard.map((facts) => sentenceOf(facts)));
const lines = (site: ServiceSite): unknown[] =>
  site.lines.filter(({ message }) => message.startsWith('alert')).map(({ level, message }) => `${level} ${message}`);

describe('O3: the alert monitor', () => {
  test('O3: an alert is raised once for all servers, and cleared once', async () => {
    const site = serviceSite();
    const servers = [serverOn(site, 'one'), serverOn(site, 'two'), serverOn(site, 'three')];
    for (const { monitor } of servers) monitor.start();
    await ticks(site, 4);
    expect(told(servers)).toEqual([]);
    for (const server of servers) server.gaps = 101;
    await ticks(site, 8);
    expect(told(servers)).toEqual(['Alert sequence-gaps raised: More than 100 numbers of streams are gaps']);
    expect(lines(site)).toEqual(['warn alert raised: More than 100 numbers of streams are gaps']);
    for (const server of servers) server.gaps = 100;
    await ticks(site, 8);
    expect(told(servers).sort()).toEqual([
      'Alert sequence-gaps cleared',
      'Alert sequence-gaps raised: More than 100 numbers of streams are gaps',
    ]);
    for (const { monitor } of servers) await monitor.stop();
  });

  test('O3: what several processes met alone adds up', async () => {
    const site = serviceSite();
    const servers = [serverOn(site, 'one'), serverOn(site, 'two')];
    for (const { monitor } of servers) monitor.start();
    await ticks(site, 2);
    // Two each: neither would be over 0.01 a second alone.
    for (const server of servers) server.process = { ...server.process, conflicts: 2 };
    await ticks(site, 6);
    expect(told(servers)).toEqual([]);
    await pass(site.clock, 2 * MINUTE, 100);
    expect(told(servers)).toHaveLength(1);
    await pass(site.clock, 6 * MINUTE, 200);
    expect(told(servers).at(-1)).toBe('Alert conflicts cleared');
    for (const { monitor } of servers) await monitor.stop();
  });

  test('O3, S15: a record whose answer is lost is written once, and what it counted counts once', async () => {
    const site = serviceSite();
    const store = new FaultyStore(site.store, site.clock);
    const server = serverOn({ ...site, store }, 'one');
    server.monitor.start();
    await ticks(site, 2);
    server.process = { ...server.process, conflicts: 2 }; // twice that is over 0.01 a second
    store.order({ calls: 'acquire' }).order({ calls: 'acquire', fault: 'failAfter' }); // its turn, and the record
    await pass(site.clock, 4 * MINUTE, 200);
    const [conflicts] = (await server.monitor.alerts()).filter(({ alert }) => alert === 'conflicts');
    expect(conflicts).toMatchObject({ state: 'ok', value: expect.closeTo(2 / 300, 4) as unknown });
    await server.monitor.stop();
  });

  test('O3: the same rows of the log, seen by two servers, count once', async () => {
    const site = serviceSite();
    const servers = [serverOn(site, 'one'), serverOn(site, 'two')];
    for (const { monitor } of servers) monitor.start();
    await ticks(site, 3);
    for (const server of servers) server.totals = { ...noTotals(), expired: 10 };
    await ticks(site, 6);
    expect(told(servers)).toEqual([]);
    for (const server of servers) server.totals = { ...noTotals(), expired: 21 };
    await ticks(site, 2);
    expect(told(servers)).toEqual([
      'Alert expiration-burst raised: More than 10 leases expired within one sweep interval',
    ]);
    expect(lines(site)).toEqual(['error alert raised: More than 10 leases expired within one sweep interval']);
    for (const { monitor } of servers) await monitor.stop();
  });

  test('O3: a restart repeats nothing, and what stands is shown', async () => {
    const site = serviceSite();
    const before = serverOn(site, 'one');
    before.process = { ...before.process, skewMs: -5_001 };
    before.monitor.start();
    await ticks(site, 3);
    expect(told([before])).toHaveLength(1);
    await before.monitor.stop();
    const after = serverOn(site, 'one');
    after.process = { ...after.process, skewMs: -5_001 };
    after.monitor.start();
    await ticks(site, 3);
    expect(told([after])).toEqual([]);
    const shown = await after.monitor.alerts();
    expect(shown).toHaveLength(8);
    expect(shown.filter(({ state }) => state !== 'ok')).toEqual([
      {
        alert: 'clock-skew',
        severity: 'warning',
        state: 'firing',
        since: expect.stringMatching(/^2026-/) as unknown,
        value: 5.001,
        threshold: 5,
        summary: "A machine's clock and the store's differ by more than 5 s",
        runbook: 'docs/runbooks/clock-skew.md',
      },
    ]);
    await after.monitor.stop();
  });

  test('O3: what happened before there was a record is no alert', async () => {
    const site = serviceSite();
    const server = serverOn(site, 'one');
    server.totals = { ...noTotals(), expired: 1_000 };
    server.monitor.start();
    await ticks(site, 5);
    expect(told([server])).toEqual([]);
    await server.monitor.stop();
  });
});
