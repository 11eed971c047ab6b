// Alerts to a webhook (O3): signed, tried again, sent once for all servers, taken over from a server that stopped, and a
// receiver that hangs stops nothing. Over a real HTTP server; time is told to move where nothing must be waited for.
import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { LeaseError } from '../../src/domain/errors.js';
import { sendNotice } from '../../src/observe/webhook.js';
import { newCounts } from '../../src/services/alert-figures.js';
import { ALERTS_EVERY_MS, AlertMonitor } from '../../src/services/alert-monitor.js';
import { systemClock } from '../../src/system-clock.js';
import { pass, serviceSite, type ServiceSite } from '../support/service-site.js';
import { startReceiver, type WebhookReceiver } from '../support/webhook-receiver.js';

const SECRET = 'what nobody guesses';
let receiver: WebhookReceiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());
const never = new AbortController().signal;
const rejected = async (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(
    () => 'taken',
    (error: unknown) => error,
  );

describe('O3: one notice', () => {
  const post = (signal = never): Promise<void> =>
    sendNotice(
      { url: receiver.url, secret: SECRET, clock: systemClock(), signal },
      { id: 'notice-1', body: { alert: 'conflicts' } },
    );

  test('O3: is signed over its time and its body', async () => {
    await post();
    const [first] = receiver.received;
    if (!first) throw new Error('nothing was received');
    const { headers, body } = first;
    const timestamp = String(headers['holdfast-timestamp']);
    const expected = createHmac('sha256', SECRET).update(`${timestamp}.${body}`).digest('hex');
    expect(headers['holdfast-signature']).toBe(`v1=${expected}`);
    expect(Math.abs(Number(timestamp) - Math.floor(systemClock().wall() / 1_000))).toBeLessThanOrEqual(5);
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'holdfast-notice': 'notice-1' });
    expect(JSON.parse(body)).toEqual({ id: 'notice-1', alert: 'conflicts' });
  });

  test('O3: that was refused is tried again, under the same id', async () => {
    receiver.answers.push(500, 503);
    await post();
    expect(receiver.received.map(({ headers }) => headers['holdfast-notice'])).toEqual(new Array(3).fill('notice-1'));
  });

  test('O3: is given up after four tries, and the error shows the host alone', async () => {
    receiver.answers.push(500, 500, 500, 500, 204);
    const error = await rejected(post());
    expect(error).toBeInstanceOf(LeaseError);
    expect(error).toMatchObject({
      message: expect.stringMatching(/127\.0\.0\.1:\d+ did not take .* answered 500$/) as unknown,
    });
    expect(String(error)).not.toContain('secret-path');
    expect(receiver.received).toHaveLength(4);
  });

  test('O3: follows no redirection', async () => {
    receiver.answers.push(307);
    await post();
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hooks/secret-path', '/hooks/secret-path']);
  });

  test('O3: ends with its signal, also while it waits for an answer', async () => {
    receiver.answers.push('hang');
    const over = new AbortController();
    const sending = rejected(post(over.signal));
    await expect.poll(() => receiver.received.length).toBe(1);
    over.abort();
    expect(await sending).toBeInstanceOf(LeaseError);
  });
});

describe('O3: the monitor and its webhook', () => {
  interface Watched {
    readonly monitor: AlertMonitor;
    gaps: number;
  }
  const running: AlertMonitor[] = [];
  afterEach(async () => {
    for (const monitor of running.splice(0)) await monitor.stop();
  });
  function monitorOn(site: ServiceSite, owner: string): Watched {
    const watched: Watched = {
      gaps: 0,
      monitor: new AlertMonitor({
        ...site,
        owner,
        webhookSecret: SECRET,
        announce: () => undefined,
        figures: async () => ({ totals: undefined, process: { ...newCounts(), skewMs: 0 }, gaps: watched.gaps }),
      }),
    };
    running.push(watched.monitor);
    watched.monitor.start();
    return watched;
  }
  const ticks = (site: ServiceSite, count: number): Promise<void> =>
    pass(site.clock, ALERTS_EVERY_MS * count, count * 10);
  const states = (): unknown[] =>
    receiver.received.map(({ body }) => {
      const { alert, state, severity, runbook, namespace } = JSON.parse(body) as Record<string, unknown>;
      return [alert, state, severity, runbook, namespace];
    });
  const RAISED = ['sequence-gaps', 'firing', 'warning', 'docs/runbooks/sequence-gaps.md', 'default'];
  const RESOLVED = ['sequence-gaps', 'resolved', 'warning', 'docs/runbooks/sequence-gaps.md', 'default'];

  test('O3: two servers send an alert once, and its end once', async () => {
    const site = serviceSite();
    await site.store.setSettings({ alert_webhook_url: receiver.url });
    const servers = [monitorOn(site, 'one'), monitorOn(site, 'two')];
    for (const server of servers) server.gaps = 500;
    await ticks(site, 3);
    await expect.poll(() => states()).toEqual([RAISED]);
    for (const server of servers) server.gaps = 0;
    await ticks(site, 12);
    await expect.poll(() => states()).toEqual([RAISED, RESOLVED]);
    await ticks(site, 20);
    expect(states()).toEqual([RAISED, RESOLVED]);
  });

  test('O3: a receiver that hangs stops neither the looks nor the stop', async () => {
    const site = serviceSite();
    await site.store.setSettings({ alert_webhook_url: receiver.url });
    receiver.answers.push(...new Array<'hang'>(100).fill('hang'));
    const server = monitorOn(site, 'one');
    server.gaps = 500;
    await ticks(site, 2);
    await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
    server.gaps = 0;
    await ticks(site, 8);
    const shown = await server.monitor.alerts();
    expect(shown.find(({ alert }) => alert === 'sequence-gaps')).toMatchObject({ state: 'ok' });
    await server.monitor.stop();
  });

  test('O3: what one server could not send another one sends, under the same id', async () => {
    const site = serviceSite();
    await site.store.setSettings({ alert_webhook_url: receiver.url });
    receiver.answers.push(...new Array<'hang'>(100).fill('hang'));
    const first = monitorOn(site, 'one');
    first.gaps = 500;
    await ticks(site, 2);
    await expect.poll(() => receiver.received.length).toBeGreaterThan(0);
    await first.monitor.stop();
    receiver.answers.length = 0;
    const unsent = receiver.received.length;
    const second = monitorOn(site, 'two');
    second.gaps = 500;
    await ticks(site, 8);
    await expect.poll(() => receiver.received.length).toBe(unsent + 1);
    const ids = receiver.received.map(({ headers }) => headers['holdfast-notice']);
    expect(new Set(ids).size).toBe(1);
    await ticks(site, 20);
    expect(receiver.received).toHaveLength(unsent + 1);
  });

  test('O3: without a secret nothing is sent, and that is said once', async () => {
    const site = serviceSite();
    await site.store.setSettings({ alert_webhook_url: receiver.url });
    const monitor = new AlertMonitor({
      ...site,
      announce: () => undefined,
      figures: async () => ({ totals: undefined, process: { ...newCounts(), skewMs: 0 }, gaps: 500 }),
    });
    running.push(monitor);
    monitor.start();
    await ticks(site, 6);
    expect(receiver.received).toEqual([]);
    expect(site.lines.filter(({ message }) => message.includes('no secret'))).toHaveLength(1);
    expect(JSON.stringify(site.lines)).not.toContain('secret-path');
  });
});
