// The options of acquire (A4), each with what it takes and what it refuses, and where a value comes from that was not
// given: the call, else the connection, else the settings of the store.
import { describe, expect, test } from 'vitest';
import { invalidMessage } from '../../test/support/invalid-message.js';
import { AWKWARD } from '../../test/support/awkward-values.js';
import { DEFAULT_SETTINGS, type Settings } from '../domain/settings.js';
import type { AcquireOptions } from './face.js';
import { parseWait, planOf, type Defaults, type Plan } from './plan.js';

const DEFAULTS: Defaults = { owner: 'me', renewAt: 0.6, minTtlMs: 100, adaptiveTtlMs: () => 45_000 };

function plan(options: unknown = {}, defaults: Partial<Defaults> = {}, settings: Partial<Settings> = {}): Plan {
  const given = { ...DEFAULTS, ...defaults };
  return planOf('x', options as AcquireOptions, given, { ...DEFAULT_SETTINGS, ...settings });
}
const refusal = (options: unknown, defaults: Partial<Defaults> = {}): string =>
  invalidMessage(() => plan(options, defaults));

describe('defaults', () => {
  test('A5: an auto-renewed lease lives 30 s, one that nobody renews an hour', () => {
    expect(plan()).toMatchObject({ ttlMs: 30_000, terms: { isAuto: true, renewAt: 0.6, requestTimeoutMs: 3_000 } });
    expect(plan({ renew: 'manual' })).toMatchObject({ ttlMs: 3_600_000, terms: { isAuto: false } });
  });
  test('A1: it waits for 30 s, alone and exclusive, without any bound', () => {
    expect(plan()).toMatchObject({
      ...{ parts: [{ name: 'x', scope: 'node', mode: 'exclusive' }], owner: 'me', waitMs: 30_000, priority: 0 },
      ...{ maxRenewals: -1, maxHoldMs: undefined, minHoldMs: 0, lockDelayMs: 0, reclaim: false },
      ...{ operationId: undefined, metadata: undefined, signal: undefined },
    });
  });
  test('O4: the settings of the store are the last to be asked', () => {
    const settings = { held_ttl_seconds: 60, default_ttl_seconds: 10, acquisition_timeout_ms: 5, max_renewals: 7 };
    expect(plan({}, {}, settings)).toMatchObject({ ttlMs: 60_000, waitMs: 5, maxRenewals: 7 });
    expect(plan({ renew: 'manual' }, {}, settings).ttlMs).toBe(10_000);
    const connection = { ttlMs: 20_000, waitMs: 8, renewAt: 0.5, requestTimeoutMs: 1_000 };
    expect(plan({}, connection, settings)).toMatchObject({
      ttlMs: 20_000,
      waitMs: 8,
      terms: { renewAt: 0.5, requestTimeoutMs: 1_000 },
    });
    expect(plan({ ttl: '25s', wait: 9, maxRenewals: 1 }, connection, settings)).toMatchObject({
      ttlMs: 25_000,
      waitMs: 9,
      maxRenewals: 1,
    });
  });
  test('O4: with blocking_mode_enabled off every wait is 0', () => {
    expect(plan({ wait: 'forever' }, { waitMs: 5 }, { blocking_mode_enabled: false }).waitMs).toBe(0);
  });
  test('A4: what is given as undefined was not given', () => {
    const none = Object.fromEntries(
      ['owner', 'ttl', 'wait', 'mode', 'limit', 'scope', 'priority', 'maxRenewals', 'maxHold', 'minHold']
        .concat(['lockDelay', 'progressWithin', 'reclaim', 'renew', 'operationId', 'metadata', 'signal'])
        .map((key) => [key, undefined]),
    );
    expect(plan(none)).toEqual(plan());
  });
});

describe('A4: what each option takes', () => {
  const signal = new AbortController().signal;
  test.each<[AcquireOptions, object]>([
    [{ owner: 'worker-7' }, { owner: 'worker-7' }],
    [{ ttl: '2s' }, { ttlMs: 2_000, terms: expect.objectContaining({ requestTimeoutMs: 200 }) as unknown }],
    [{ ttl: 30 * 86_400_000 }, { ttlMs: 30 * 86_400_000 }],
    [{ ttl: 100, renew: 'manual' }, { ttlMs: 100 }],
    [{ ttl: 250 }, { ttlMs: 250 }],
    [{ ttl: 'adaptive' }, { ttlMs: 45_000 }],
    [{ wait: 0 }, { waitMs: 0 }],
    [{ wait: '1m30s' }, { waitMs: 90_000 }],
    [{ wait: 'forever' }, { waitMs: Infinity }],
    [{ mode: 'shared' }, { parts: [{ name: 'x', scope: 'node', mode: 'shared' }] }],
    [{ mode: 'shared', limit: 3 }, { parts: [{ name: 'x', scope: 'node', mode: 'shared', limit: 3 }] }],
    [{ scope: 'subtree' }, { parts: [{ name: 'x', scope: 'subtree', mode: 'exclusive' }] }],
    [{ priority: -100 }, { priority: -100 }],
    [{ priority: 100 }, { priority: 100 }],
    [{ maxRenewals: 0 }, { maxRenewals: 0 }],
    [{ maxRenewals: -1 }, { maxRenewals: -1 }],
    [{ maxHold: '365d' }, { maxHoldMs: 365 * 86_400_000, ttlMs: 30_000 }],
    [{ maxHold: '5s' }, { maxHoldMs: 5_000, ttlMs: 5_000 }],
    [{ minHold: '24h' }, { minHoldMs: 86_400_000 }],
    [{ lockDelay: '60s' }, { lockDelayMs: 60_000 }],
    [{ progressWithin: '10s' }, { terms: expect.objectContaining({ progressWithinMs: 10_000 }) as unknown }],
    [{ reclaim: true }, { reclaim: true }],
    [{ renew: 'auto' }, { terms: expect.objectContaining({ isAuto: true }) as unknown }],
    [{ operationId: 'job 7' }, { operationId: 'job 7' }],
    [{ metadata: { pod: 'a', list: [1, null] } }, { metadata: { pod: 'a', list: [1, null] } }],
    [{ metadata: null }, { metadata: null }],
    [{ signal }, { signal }],
  ])('%o', (options, expected) => {
    expect(plan(options)).toMatchObject(expected);
  });

  test.each<[unknown, RegExp]>([
    [{ owner: '' }, /owner is from 1 to 128 bytes/],
    [{ owner: 'o'.repeat(129) }, /owner is from 1 to 128 bytes/],
    [{ owner: 7 }, /owner must be text/],
    [{ ttl: NaN }, /ttl takes milliseconds or text/],
    [{ ttl: 'soon' }, /ttl takes milliseconds or text/],
    [{ ttl: -1 }, /ttl is from 100ms to 30d/],
    [{ ttl: '31d' }, /ttl is from 100ms to 30d/],
    [{ ttl: 99, renew: 'manual' }, /ttl is from 100ms to 30d/],
    [{ ttl: 249 }, /at least 250 ms/],
    [{ wait: -1 }, /wait is from 0s to 1d/],
    [{ wait: '25h' }, /wait is from 0s to 1d/],
    [{ wait: Infinity }, /wait takes milliseconds/],
    [{ wait: 'ever' }, /wait takes milliseconds/],
    [{ mode: 'both' }, /mode is 'exclusive' or 'shared'/],
    [{ limit: 2 }, /limit needs mode 'shared'/],
    [{ limit: 2, mode: 'exclusive' }, /limit needs mode 'shared'/],
    [{ limit: 0, mode: 'shared' }, /limit is a whole number from 1/],
    [{ limit: NaN, mode: 'shared' }, /limit is a whole number from 1/],
    [{ scope: 'tree' }, /scope is 'node' or 'subtree'/],
    [{ priority: NaN }, /priority is a whole number from -100 to 100/],
    [{ priority: 101 }, /priority is a whole number from -100 to 100/],
    [{ priority: 0.5 }, /priority is a whole number from -100 to 100/],
    [{ priority: '1' }, /priority is a whole number from -100 to 100/],
    [{ maxRenewals: -2 }, /maxRenewals is -1 \(no bound\) or a whole number/],
    [{ maxRenewals: 1.5 }, /maxRenewals is -1 \(no bound\) or a whole number/],
    [{ maxHold: 0 }, /maxHold is from 100ms to 365d/],
    [{ maxHold: '366d' }, /maxHold is from 100ms to 365d/],
    [{ minHold: '25h' }, /minHold is from 0s to 1d/],
    [{ minHold: -1 }, /minHold is from 0s to 1d/],
    [{ lockDelay: '61s' }, /lockDelay is from 0s to 1m/],
    [{ progressWithin: 0 }, /progressWithin is from 1ms/],
    [{ reclaim: 'yes' }, /reclaim is true or false/],
    [{ renew: 'always' }, /renew is 'auto' or 'manual'/],
    [{ operationId: '' }, /operationId is from 1 to 1024 bytes/],
    [{ operationId: 5 }, /operationId must be text/],
    [{ metadata: { f: () => 1 } }, /metadata holds a function/],
    [{ metadata: 'm'.repeat(5_000) }, /metadata is 5002 bytes of JSON, at most 4096/],
    [{ signal: { aborted: false } }, /signal is an AbortSignal/],
    [{ waitt: 5 }, /unknown option "waitt": known are owner, ttl, wait/],
    [5, /options are an object, got 5/],
    [null, /options are an object, got null/],
  ])('refuses %o', (options, message) => {
    expect(refusal(options)).toMatch(message);
  });

  test.each(AWKWARD)('A11: %s as the ttl is refused in words', (_, value, shownAs) => {
    expect(refusal({ ttl: value })).toContain(shownAs);
  });

  test('S8: a change of the metadata by its owner does not reach what is sent', () => {
    const metadata = { step: 1, list: [1] };
    const { metadata: sent } = plan({ metadata });
    metadata.step = 2;
    metadata.list.push(2);
    expect(sent).toEqual({ step: 1, list: [1] });
  });

  test('S10: a limit is for the shared parts of a list, and is refused when there are none', () => {
    const both = planOf([{ name: 'a', mode: 'shared' }, 'b'], { limit: 2 }, DEFAULTS, DEFAULT_SETTINGS);
    expect(both.parts).toEqual([
      { name: 'a', scope: 'node', mode: 'shared', limit: 2 },
      { name: 'b', scope: 'node', mode: 'exclusive' },
    ]);
    expect(invalidMessage(() => planOf(['a', 'b'], { limit: 2 }, DEFAULTS, DEFAULT_SETTINGS))).toContain('limit needs');
  });
});

describe('S14: durations are checked together', () => {
  test('two attempts must fit before the deadline, and the message does the sum', () => {
    const message = refusal({ ttl: '10s' }, { requestTimeoutMs: 2_000 });
    expect(message).toContain('renewal point 6000 + 2 × requestTimeout 2000 + backoff 200 + margin 1005');
    expect(message).toContain('= 11205 ms > ttl 10000 ms; raise the ttl, or lower renewAt or requestTimeout');
  });
  test('what just fits is taken, one millisecond less is not', () => {
    const fits = 10_000 - 6_000 - 200 - 1_005;
    expect(plan({ ttl: '10s' }, { requestTimeoutMs: Math.floor(fits / 2) }).ttlMs).toBe(10_000);
    expect(refusal({ ttl: '10s' }, { requestTimeoutMs: Math.floor(fits / 2) + 1 })).toContain('do not fit');
  });
  test('nobody renews a manual lease, so nothing has to fit', () => {
    expect(plan({ ttl: '10s', renew: 'manual' }, { requestTimeoutMs: 9_000 }).ttlMs).toBe(10_000);
  });
  test('a maxHold below the ttl is the ttl, and is held to the same rule', () => {
    expect(plan({ ttl: '30s', maxHold: '10s' }).ttlMs).toBe(10_000);
    expect(refusal({ ttl: '30s', maxHold: '10s' }, { requestTimeoutMs: 2_000 })).toContain('> ttl 10000 ms');
  });
  test('a store may state a higher least ttl', () => {
    expect(refusal({ ttl: 900, renew: 'manual' }, { minTtlMs: 1_000 })).toContain('ttl is from 1s');
    expect(refusal({ ttl: 900 }, { minTtlMs: 1_000 })).toContain('ttl is from 1s');
    expect(plan({ ttl: '1s' }, { minTtlMs: 1_000 }).ttlMs).toBe(1_000);
  });
});

describe('adaptive ttl', () => {
  test('A4: adaptive_ttl_enabled is for auto-renewed leases that name no ttl', () => {
    const on = { adaptive_ttl_enabled: true };
    expect(plan({}, {}, on).ttlMs).toBe(45_000);
    expect(plan({ ttl: '20s' }, {}, on).ttlMs).toBe(20_000);
    expect(plan({}, { ttlMs: 25_000 }, on).ttlMs).toBe(25_000);
    expect(plan({ renew: 'manual' }, {}, on).ttlMs).toBe(3_600_000);
  });
  test('A4: it is asked about the parts and the settings of the moment', () => {
    const asked: unknown[] = [];
    const adaptiveTtlMs: Defaults['adaptiveTtlMs'] = (parts, settings) => {
      asked.push(parts[0]?.name, settings.max_ttl_seconds);
      return 12_000;
    };
    expect(plan({ ttl: 'adaptive' }, { adaptiveTtlMs }, { max_ttl_seconds: 12 }).ttlMs).toBe(12_000);
    expect(asked).toEqual(['x', 12]);
  });
});

test('A1: a wait in words', () => {
  expect([parseWait('forever'), parseWait('2s'), parseWait(0)]).toEqual([Infinity, 2_000, 0]);
});
