// The connection that listens is gone for good (Q3, S19): whoever waits finds out by looking, as soon as the page says, and the
// server is not pestered with attempts to listen again, however long that lasts.
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { connect } from '../../src/connect.js';
import type { Holdfast } from '../../src/holdfast.js';
import { openPostgres } from '../../src/stores/postgres/index.js';
import { Listener } from '../../src/stores/postgres/listener.js';
import { translateError } from '../../src/stores/postgres/translate-error.js';
import { systemClock } from '../../src/system-clock.js';
import { FakeClock } from '../../src/testing/fake-clock.js';
import { callersPool, Ear, session, until } from '../support/postgres-link-site.js';
import { startCutProxy, type CutProxy } from '../support/servers/cut-proxy.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { isSkipped } from '../support/servers/server-process.js';

/** How long nobody waits without looking: for a name, as the page says, and for a number. */
const NAME_LOOK_MS = 3_000;
const NUMBER_LOOK_MS = 2_000;
/** Beside that: what a few calls on a busy machine take. */
const TO_ASK_MS = 1_000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const STEP_MS = 10;
/** As listener.ts has them. */
const FIRST_BACKOFF_MS = 100;
const MAX_BACKOFF_MS = 10_000;
const REFUSED_BACKOFF_MS = 30_000;

describe.skipIf(isSkipped('postgres'))('without a connection that listens', () => {
  let server: PostgresServer;
  beforeAll(async () => {
    server = await startPostgres();
  });
  afterAll(() => server.remove());

  const through = async (): Promise<{ proxy: CutProxy; url: string }> => {
    const proxy = await startCutProxy(server.port);
    onTestFinished(() => proxy.close());
    return { proxy, url: server.url.replace(`:${server.port}/`, `:${proxy.port}/`) };
  };
  interface Process {
    readonly leases: Holdfast;
    readonly push: () => Promise<string>;
  }
  const joined = async (listenUrl?: string): Promise<Process> => {
    const store = await openPostgres(server.url, { clock: systemClock(), listenUrl });
    const leases = await connect(store, { services: 'off' });
    onTestFinished(() => leases.shutdown());
    return { leases, push: async () => String((await store.info()).details['push']) };
  };

  test(`Q3, N3, S19: a freed name is noticed within ${NAME_LOOK_MS} ms, a settled number within ${NUMBER_LOOK_MS} ms`, async () => {
    const { proxy, url } = await through();
    const [{ leases: holder }, { leases: waiter, push }] = [await joined(), await joined(url)];
    await until('it listens', async () => (await push()) === 'listening');
    proxy.newConnections('refuse');
    proxy.cut();
    await until('it polls', async () => (await push()).startsWith('polling: '));
    const look = callersPool(server.url);

    const freed = async (name: string): Promise<number> => {
      const held = await holder.acquire(name, { ttl: '60s' });
      const waiting = waiter.acquire(name, { wait: 'forever' });
      await until('it is in the queue', async () => (await holder.show(name)).queue.length === 1);
      const freedAt = performance.now();
      await held.release();
      const next = await waiting;
      const tookMs = performance.now() - freedAt;
      await next.release();
      return tookMs;
    };
    const settled = async (name: string): Promise<number> => {
      const held = await holder.sequence(name).lease({ operationId: 'op', kind: 'k' });
      const waiting = waiter.sequence(name).waitFor(2);
      await until('somebody waits for it', async () => {
        const { rows } = await look.query('SELECT 1 FROM holdfast.stream WHERE name = $1 AND watched_until > 0', [
          name,
        ]);
        return rows.length === 1;
      });
      const settledAt = performance.now();
      await held.commit(1);
      await waiting;
      return performance.now() - settledAt;
    };
    const names = ['a', 'b', 'c', 'd'];
    const waits = await Promise.all([Promise.all(names.map(freed)), Promise.all(names.map(settled))]);
    expect(Math.max(...waits[0])).toBeLessThan(NAME_LOOK_MS + TO_ASK_MS);
    expect(Math.max(...waits[1])).toBeLessThan(NUMBER_LOOK_MS + TO_ASK_MS);
    expect(await push()).toMatch(/^polling: /); // it was not heard
  });

  /** A listener whose time stands still until it is told to move; its attempts to connect are real. */
  const listening = async (url: string) => {
    const clock = new FakeClock();
    const other = await session(server.url);
    const attempts: number[] = [];
    let failed: () => void = () => undefined;
    const listener = new Listener({
      clock,
      newClient: () => {
        attempts.push(clock.monotonic());
        return new pg.Client({ connectionString: url });
      },
      notify: (channel, payload) => other.query('SELECT pg_notify($1, $2)', [channel, payload]),
      translate: (error) => {
        failed();
        return translateError(error, { server: 'the server', schema: 'holdfast', isReadOnly: false });
      },
    });
    onTestFinished(() => listener.close());
    const failure = (): Promise<void> =>
      new Promise((resolve) => {
        failed = resolve;
      });
    /** How long it rests after each attempt in that time; the first attempt is under way, and all of them fail. */
    const rests = async (ms: number, first: Promise<void>): Promise<number[]> => {
      const [begin, end] = [attempts.length - 1, clock.monotonic() + ms];
      let failing = first;
      for (;;) {
        await failing;
        failing = failure();
        const before = attempts.length;
        while (attempts.length === before) {
          await clock.advance(STEP_MS);
          if (clock.monotonic() >= end)
            return attempts.slice(begin + 1).map((at, i) => at - (attempts[begin + i] ?? 0));
        }
      }
    };
    return { clock, listener, attempts, failure, rests };
  };

  test('Q3: one that cannot be reached is tried again after 50 ms to 10 s, at most; one that was reached, from 100 ms on again', async () => {
    const { proxy, url } = await through();
    proxy.newConnections('refuse');
    const { clock, listener, failure, rests, attempts } = await listening(url);
    const ear = new Ear();
    const first = failure();
    listener.listen('hf', ear);
    const rested = await rests(HOUR, first);
    expect(rested[0]).toBeLessThanOrEqual(FIRST_BACKOFF_MS);
    expect(Math.max(...rested)).toBeLessThanOrEqual(MAX_BACKOFF_MS);
    expect(Math.min(...rested.slice(10))).toBeGreaterThanOrEqual(MAX_BACKOFF_MS / 2);
    expect(rested.length).toBeLessThan(HOUR / (MAX_BACKOFF_MS / 2) + 10);
    expect(rested.length).toBeGreaterThanOrEqual(HOUR / MAX_BACKOFF_MS); // and it never gives up
    expect([ear.ups, ear.downs.length]).toEqual([0, 1]);

    proxy.newConnections('pass');
    const tried = attempts.length;
    while (attempts.length === tried) await clock.advance(STEP_MS);
    await until('it listens', () => ear.ups === 1);
    proxy.newConnections('refuse');
    const [cut, before] = [failure(), attempts.length];
    proxy.cut();
    await cut;
    expect(ear.downs).toHaveLength(2);
    await clock.advance(FIRST_BACKOFF_MS);
    expect(attempts.length).toBeGreaterThan(before);
  });

  test('Q3: one that is refused is tried again every 30 s', async () => {
    const { listener, failure, rests } = await listening(server.url.replace('secret', 'hush'));
    const ear = new Ear();
    const first = failure();
    listener.listen('hf', ear);
    const rested = await rests(10 * MINUTE, first);
    expect(new Set(rested)).toEqual(new Set([REFUSED_BACKOFF_MS]));
    expect(ear.downs.map(({ code }) => code)).toEqual(['UNAUTHORIZED']);
  });
});
