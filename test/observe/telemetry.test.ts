// OpenTelemetry with its own SDK (O2): the same instruments under the meter `holdfast`, spans around acquire, hold and renew in
// the caller's trace; and without it, or with a part of it that throws, nothing is different.
import { AsyncLocalStorage } from 'node:async_hooks';
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { context, metrics, ROOT_CONTEXT, trace, type Context, type ContextManager } from '@opentelemetry/api';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/index.js';
import { silentLogger } from '../../src/observe/logger.js';
import { observe } from '../../src/services/observing.js';
import { MemoryStore } from '../../src/stores/memory/memory-store.js';
import { systemClock } from '../../src/system-clock.js';

/** What OpenTelemetry's own package for Node does, as far as it is needed here. */
class Contexts implements ContextManager {
  readonly #storage = new AsyncLocalStorage<Context>();
  active(): Context {
    return this.#storage.getStore() ?? ROOT_CONTEXT;
  }
  with<A extends unknown[], F extends (...args: A) => ReturnType<F>>(
    active: Context,
    fn: F,
    self?: ThisParameterType<F>,
    ...args: A
  ): ReturnType<F> {
    return this.#storage.run(active, () => fn.call(self as never, ...args));
  }
  bind<T>(_context: Context, target: T): T {
    return target;
  }
  enable(): this {
    return this;
  }
  disable(): this {
    return this;
  }
}

const spans = new InMemorySpanExporter();
const figures = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter: figures, exportIntervalMillis: 3_600_000 });
const meters = new MeterProvider({ readers: [reader] });

beforeAll(() => {
  trace.setGlobalTracerProvider(new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] }));
  metrics.setGlobalMeterProvider(meters);
  context.setGlobalContextManager(new Contexts());
});
afterEach(() => spans.reset());
afterAll(async () => {
  await meters.shutdown();
  trace.disable();
  metrics.disable();
  context.disable();
});

async function collected(): Promise<Map<string, { value: unknown; attributes: object }[]>> {
  figures.reset();
  await reader.forceFlush();
  const scopes = figures.getMetrics().flatMap((one) => one.scopeMetrics);
  expect(new Set(scopes.map(({ scope }) => scope.name))).toEqual(new Set(['holdfast']));
  const all = scopes.flatMap((one) => one.metrics);
  return new Map(all.map(({ descriptor, dataPoints }) => [descriptor.name, dataPoints as never]));
}

describe('O2: OpenTelemetry', () => {
  test('O2: spans stand around acquire and hold, in the trace of their caller, and around renewals', async () => {
    const leases = await connect(new MemoryStore({ clock: systemClock() }), { services: 'off' });
    const tracer = trace.getTracer('test');
    await tracer.startActiveSpan('work', async (work) => {
      const lease = await leases.acquire('orders/0', { ttl: '1m' });
      expect(await leases.tryAcquire('orders/0')).toMatchObject({ ok: false });
      await lease.renew();
      expect(spans.getFinishedSpans().map(({ name }) => name)).not.toContain('holdfast.hold');
      await lease.release();
      work.end();
    });
    await leases.shutdown();
    const finished = spans.getFinishedSpans();
    const work = finished.find(({ name }) => name === 'work');
    const named = (name: string): typeof finished => finished.filter((span) => span.name === name);
    expect(named('holdfast.acquire').map(({ attributes }) => attributes)).toEqual([
      { 'holdfast.resource': 'orders/0', 'holdfast.parts': 1, 'holdfast.result': 'success' },
      { 'holdfast.resource': 'orders/0', 'holdfast.parts': 1, 'holdfast.result': 'conflict' },
    ]);
    expect(named('holdfast.hold')).toHaveLength(1);
    expect(named('holdfast.renew')).toHaveLength(1);
    for (const span of [...named('holdfast.acquire'), ...named('holdfast.hold')]) {
      expect(span.parentSpanContext?.spanId).toBe(work?.spanContext().spanId);
    }
    expect(named('holdfast.hold')[0]?.attributes).toMatchObject({ 'holdfast.epoch': expect.any(Number) as unknown });
  });

  test('O2: the same instruments, for a process and for a server', async () => {
    const clock = systemClock();
    const store = new MemoryStore({ clock });
    const observing = await observe({ store, owner: 'server-1', clock, logger: silentLogger });
    const leases = await connect(store, { metrics: observing.registry, services: 'off' });
    observing.start();
    await expect.poll(async () => observing.text(), { timeout: 10_000 }).toContain('lease_queue_length 0');
    const lease = await leases.acquire('orders/0');
    await lease.renew();
    await leases.tryAcquire('orders/0');
    const text = await observing.text();
    const told = await collected();
    const valueOf = (name: string, labels: object): unknown =>
      told.get(name)?.find(({ attributes }) => JSON.stringify(attributes) === JSON.stringify(labels))?.value;
    expect(valueOf('lease_acquisitions_total', { result: 'success' })).toBeGreaterThanOrEqual(1);
    expect(valueOf('lease_acquisitions_total', { result: 'conflict' })).toBeGreaterThanOrEqual(1);
    expect(valueOf('lease_renewals_total', { result: 'success' })).toBeGreaterThanOrEqual(1);
    expect(valueOf('active_leases', { status: 'active' })).toBe(1);
    expect(valueOf('lease_queue_length', {})).toBe(0);
    expect(valueOf('lease_epoch_current', {})).toBe(lease.epoch);
    expect(valueOf('expired_leases_total', { kind: 'lease', recovery_outcome: 'none' })).toBe(0);
    const inText = new Set([...text.matchAll(/^# TYPE (\w+)/gm)].map(([, name = '']) => name));
    expect([...told.keys()].filter((name) => !inText.has(name))).toEqual([]);
    await lease.release();
    await leases.shutdown();
    await observing.stop();
  });
});

describe('O2: without OpenTelemetry', () => {
  const child = (set: string): string => {
    const program = `${set}
      const { connect } = await import(${JSON.stringify(new URL('../../dist/index.js', import.meta.url).href)});
      const leases = await connect('memory:', { services: 'off' });
      await leases.withLease('x', async () => process.stdout.write('held'));
      await leases.shutdown();`;
    const hooks = ['count-modules-child.mjs', 'hide-packages-child.mjs'].flatMap((name) => [
      '--import',
      fileURLToPath(new URL(`../support/${name}`, import.meta.url)),
    ]);
    const env = { ...process.env, HIDE: '@opentelemetry/api' };
    const options = { env, encoding: 'utf8', input: program } as const;
    const { stdout, stderr } = spawnSync(process.execPath, [...hooks, '--input-type=module', '-'], options);
    return `${stdout} ${stderr}`;
  };

  test('O2: it is not loaded where nobody set it up', () => {
    const said = child('');
    expect(said).toMatch(/^held /);
    expect(said).not.toMatch(/loaded .*(telemetry\.js|@opentelemetry)/);
  });

  test('O2: a package that is not there does no harm, whoever else set it up', () => {
    const said = child(`globalThis[Symbol.for('opentelemetry.js.api.1')] = {};`);
    expect(said).toMatch(/^held /);
    expect(said).toMatch(/loaded .*observe\/telemetry\.js/);
  });
});
