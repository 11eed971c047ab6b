// Metrics: the names and labels of O2 in the caller's registry, shared by several managers, and clear words for a wrong one.
import { Counter, Registry } from 'prom-client';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { LeaseError } from '../domain/errors.js';
import { openMetrics } from './metrics.js';
import { noMetrics } from './no-metrics.js';

afterEach(() => {
  vi.doUnmock('prom-client');
  vi.resetModules();
});

const linesOf = async (registry: Registry): Promise<string[]> => (await registry.metrics()).split('\n');

describe('O2: per-process metrics', () => {
  test('O2: every figure stands under its name, in seconds', async () => {
    const registry = new Registry();
    const metrics = await openMetrics(registry);
    metrics.acquisition('success', 40);
    metrics.acquisition('conflict', 0);
    metrics.acquisition('timeout', 2_000);
    metrics.acquisition('deadlock', 10);
    metrics.acquisition('error', 10);
    metrics.acquisition('aborted', 10);
    metrics.renewals('success', 12);
    metrics.renewals('lost', 1);
    metrics.conflict();
    metrics.guardRejection('fileGate');
    metrics.held(3);
    metrics.held(2);
    metrics.holdEnded(90_000);
    metrics.storeCall('acquire', 'ok', 3);
    metrics.skew(-250);
    metrics.loopLag(7);
    expect(await linesOf(registry)).toEqual(
      expect.arrayContaining([
        ...['success', 'conflict', 'timeout', 'deadlock', 'error', 'aborted'].map(
          (result) => `lease_acquisitions_total{result="${result}"} 1`,
        ),
        'lease_acquisition_failures_total 3',
        'lease_acquisition_wait_seconds_count 6',
        'lease_renewals_total{result="success"} 12',
        'lease_renewals_total{result="lost"} 1',
        'lease_renewals_total{result="error"} 0',
        'lease_conflicts_total 1',
        'guard_rejections_total{guard="fileGate"} 1',
        'active_leases{status="active"} 2',
        'lease_hold_seconds_sum 90',
        'store_operation_seconds_sum{operation="acquire",result="ok"} 0.003',
        'lease_clock_skew_seconds -0.25',
        'lease_event_loop_lag_seconds 0.007',
      ]),
    );
  });

  test('O2: two managers share a registry, and the leases they hold add up', async () => {
    const registry = new Registry();
    const [one, other] = [await openMetrics(registry), await openMetrics(registry)];
    one.held(5);
    other.held(2);
    one.acquisition('success', 1);
    other.acquisition('success', 1);
    one.held(1);
    expect(await linesOf(registry)).toEqual(
      expect.arrayContaining(['active_leases{status="active"} 3', 'lease_acquisitions_total{result="success"} 2']),
    );
  });

  test('a metric of the same name and another kind is refused by name', async () => {
    const registry = new Registry();
    new Counter({ name: 'active_leases', help: 'something else', registers: [registry] });
    await expect(openMetrics(registry)).rejects.toThrow(/another metric called active_leases/);
  });

  test.each([undefined, null, {}, 'register', { registerMetric: 1 }])('%j is no registry', async (value) => {
    const refused = openMetrics(value);
    await expect(refused).rejects.toBeInstanceOf(LeaseError);
    await expect(refused).rejects.toThrow(/Registry of prom-client/);
  });

  test('without prom-client the error says what to install', async () => {
    vi.doMock('prom-client', () => {
      throw new Error('Cannot find package');
    });
    const fresh = await import('./metrics.js');
    const failed = fresh.openMetrics(new Registry());
    await expect(failed).rejects.toMatchObject({ code: 'INVALID_ARGUMENT', cause: expect.anything() as unknown });
    await expect(failed).rejects.toThrow('npm install prom-client');
  });
});

test('no metrics take every figure and keep none', () => {
  expect(() => {
    noMetrics.acquisition('success', 1);
    noMetrics.held(1);
    noMetrics.storeCall('acquire', 'error', 1);
  }).not.toThrow();
});
