// The files of ops/ against what there is (O2, O3): promtool takes and tests the rules, they say what the built-in alerts say,
// every figure that rules and dashboard ask for exists, and the unit is one systemd takes.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Registry } from 'prom-client';
import { afterAll, describe, expect, test } from 'vitest';
import { ALERT_RULES } from '../../src/observe/alert-rules.js';
import { openMetrics } from '../../src/observe/metrics.js';
import { NAMESPACE_FIGURES } from '../../src/observe/namespace-figures.js';
import { findBinary, isSkipped } from '../support/servers/server-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const fileOf = (path: string): string => readFileSync(join(root, path), 'utf8');
const rules = fileOf('ops/prometheus/rules.yml');
const folder = temporaryFolder();
afterAll(() => folder.remove());

/** Names of O2, as the contract lists them. */
const NAMES = [
  'lease_acquisitions_total',
  'lease_acquisition_failures_total',
  'lease_acquisition_wait_seconds',
  'lease_renewals_total',
  'lease_conflicts_total',
  'guard_rejections_total',
  'active_leases',
  'lease_queue_length',
  'expired_leases_total',
  'lease_overrun_seconds',
  'lease_hold_seconds',
  'recovery_success_total',
  'recovery_failure_total',
  'sequence_gaps',
  'cleanup_duration_seconds',
  'lease_epoch_current',
  'store_operation_seconds',
  'store_pool_connections',
  'lease_clock_skew_seconds',
  'lease_event_loop_lag_seconds',
];

async function existing(): Promise<Set<string>> {
  const registry = new Registry();
  await openMetrics(registry);
  return new Set([
    ...registry.getMetricsAsArray().map(({ name }) => name),
    ...NAMESPACE_FIGURES.map(({ name }) => name),
  ]);
}
/** Words of an expression that look like a figure, without the endings of a histogram. */
const figuresIn = (expression: string): string[] =>
  (expression.replaceAll(/\{[^}]*\}|"[^"]*"|\bby \([^)]*\)|\[[^\]]*\]/g, ' ').match(/\b[a-z]+(?:_[a-z]+)+\b/g) ?? [])
    .filter((word) => word !== 'histogram_quantile')
    .map((word) => word.replace(/_(bucket|sum|count)$/, ''));

test('O2: the names are those of the contract, no more and no fewer', async () => {
  expect([...(await existing())].sort()).toEqual([...NAMES].sort());
});

describe.skipIf(isSkipped('promtool'))('O3: the rules for Prometheus', () => {
  const promtool = (...args: string[]): { status: number | null; said: string } => {
    const { status, stdout, stderr } = spawnSync(findBinary('promtool'), args, { cwd: folder.path, encoding: 'utf8' });
    return { status, said: stdout + stderr };
  };
  const layOut = (text: string): void => {
    writeFileSync(join(folder.path, 'rules.yml'), text);
    writeFileSync(join(folder.path, 'rules.test.yml'), fileOf('ops/prometheus/rules.test.yml'));
  };

  test('O3: promtool takes them, and their tests pass', () => {
    layOut(rules);
    expect(promtool('check', 'rules', 'rules.yml')).toMatchObject({ status: 0 });
    expect(promtool('test', 'rules', 'rules.test.yml')).toMatchObject({ status: 0 });
  });

  const namesIn = (said: string): string[] => [
    ...new Set([...said.matchAll(/alertname: (\w+)/g)].map(([, name = '']) => name)),
  ];

  test('O3: every threshold is held by a test', () => {
    layOut(rules.replaceAll(/> ([\d.]+)$/gm, (_, number: string) => `> ${Number(number) * 3}`));
    const { status, said } = promtool('test', 'rules', 'rules.test.yml');
    expect([status, namesIn(said)]).toEqual([1, [...rules.matchAll(/alert: (\w+)/g)].map(([, name]) => name)]);
  });

  test('O3: every time it must last is held by a test', () => {
    layOut(rules.replaceAll(/for: \dm/g, 'for: 0m'));
    const { status, said } = promtool('test', 'rules', 'rules.test.yml');
    const expected = ['HoldfastConflicts', 'HoldfastRenewalFailures', 'HoldfastAcquisitionFailures'];
    expect([status, namesIn(said)]).toEqual([1, expected]);
  });
});

test('O3: rules and built-in alerts say the same', () => {
  const blocks = rules.split('- alert: ').slice(1);
  const said = blocks.map((block) => {
    const one = (pattern: RegExp): string => pattern.exec(block)?.[1]?.replaceAll('"', '') ?? '';
    return {
      alert: one(/^Holdfast(\w+)/)
        .replaceAll(/(?<=[a-z])(?=[A-Z])/g, '-')
        .toLowerCase(),
      severity: one(/severity: (\w+)/),
      threshold: Number(one(/> ([\d.]+)$/m)),
      forMs: Number(one(/for: (\d+)m/) || '0') * 60_000,
      summary: one(/summary: (.*)/),
      runbook: one(/runbook: (.*)/),
    };
  });
  expect(said).toEqual(
    ALERT_RULES.map(({ name, severity, threshold, forMs, summary }) => {
      return { alert: name, severity, threshold, forMs, summary, runbook: `docs/runbooks/${name}.md` };
    }),
  );
  for (const { runbook } of said) expect(existsSync(join(root, runbook)), runbook).toBe(true);
});

describe('O2: what is asked for exists', () => {
  test('O2: in the rules', async () => {
    const names = await existing();
    const asked = [...rules.matchAll(/expr: (?:>-\n((?: {10,}.*\n)+)|(.*)\n)/g)].flatMap(([, many, one]) =>
      figuresIn(many ?? one ?? ''),
    );
    expect(asked.length).toBeGreaterThanOrEqual(ALERT_RULES.length);
    expect(asked.filter((name) => !names.has(name))).toEqual([]);
  });

  test('O2: in the dashboard, which shows every figure there is', async () => {
    const names = await existing();
    const dashboard = JSON.parse(fileOf('ops/grafana/dashboard.json')) as {
      panels: { title: string; targets: { expr: string }[] }[];
    };
    const asked = dashboard.panels.flatMap(({ targets }) => targets.flatMap(({ expr }) => figuresIn(expr)));
    expect(asked.filter((name) => !names.has(name))).toEqual([]);
    expect([...names].filter((name) => !asked.includes(name))).toEqual([]);
    expect(figuresIn('sum by (le) (rate(lease_gone_total{a_b="c_d"}[5m]))')).toEqual(['lease_gone_total']);
  });
});

describe('the unit for systemd', () => {
  const unit = fileOf('ops/systemd/holdfast.service');
  const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;

  test.runIf(hasAnalyze)('systemd-analyze has nothing to say about it', () => {
    const path = join(root, 'ops/systemd/holdfast.service');
    const { status, stdout, stderr } = spawnSync('systemd-analyze', ['verify', path], { encoding: 'utf8' });
    expect([status, (stdout + stderr).split('\n').filter((line) => line.includes('holdfast'))]).toEqual([0, []]);
  });

  test('W5: it serves, drains on SIGTERM, starts again and may do little else', () => {
    for (const line of [
      'ExecStart=/usr/bin/env holdfast serve',
      'KillSignal=SIGTERM',
      'Restart=always',
      'DynamicUser=yes',
    ]) {
      expect(unit.split('\n')).toContain(line);
    }
    expect(unit).not.toMatch(/^Environment=.*(TOKEN|SECRET|PASSWORD)/m);
  });
});
