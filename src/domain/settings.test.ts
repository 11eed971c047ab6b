// Settings: the defaults of the contract's section 9, and what is said to unknown keys and bad values.
import { describe, expect, test } from 'vitest';
import { AWKWARD } from '../../test/support/awkward-values.js';
import { invalidMessage } from '../../test/support/invalid-message.js';
import { checkSettings, DEFAULT_SETTINGS, SETTING_RULES, type SettingKey } from './settings.js';

const refused = (changes: Record<string, unknown>): string =>
  invalidMessage(() => checkSettings(changes, DEFAULT_SETTINGS));

test('O4: the defaults are those of the contract, no more and no fewer', () => {
  expect(DEFAULT_SETTINGS).toEqual({
    default_ttl_seconds: 3600,
    held_ttl_seconds: 30,
    max_renewals: -1,
    acquisition_timeout_ms: 30000,
    cleanup_interval_seconds: 30,
    auto_expire_enabled: true,
    blocking_mode_enabled: true,
    keep_history: true,
    history_renewals: false,
    history_retention_days: 30,
    history_archive_path: '',
    cascade_threshold: 10,
    recovery_batch_size: 50,
    recovery_batch_delay_ms: 100,
    max_lock_age_seconds: 3600,
    max_lock_age_action: 'report',
    adaptive_ttl_enabled: false,
    min_ttl_seconds: 10,
    max_ttl_seconds: 900,
    alert_webhook_url: '',
  });
  expect(Object.isFrozen(DEFAULT_SETTINGS)).toBe(true);
});

test('O4: every default is a value its own rule accepts', () => {
  expect(checkSettings({ ...DEFAULT_SETTINGS }, DEFAULT_SETTINGS)).toEqual(DEFAULT_SETTINGS);
});

test('O4: what is accepted is what was asked, and nothing else', () => {
  expect(checkSettings({}, DEFAULT_SETTINGS)).toEqual({});
  expect(checkSettings({ held_ttl_seconds: 45.5, keep_history: false }, DEFAULT_SETTINGS)).toEqual({
    held_ttl_seconds: 45.5,
    keep_history: false,
  });
});

describe('O4: an unknown key is refused with those that are known', () => {
  test.each(['ttl', 'constructor', 'hasOwnProperty', 'Held_Ttl_Seconds', '', ' held_ttl_seconds', 'x'.repeat(10_000)])(
    '%s',
    (key) => {
      const message = refused({ [key]: 1 });
      expect(message).toMatch(/^unknown setting "/);
      for (const known of Object.keys(SETTING_RULES)) expect(message).toContain(known);
      expect(message.length).toBeLessThan(800);
    },
  );

  test('__proto__ as JSON.parse makes it', () => {
    expect(refused(JSON.parse('{"__proto__":{"keep_history":false}}') as Record<string, unknown>)).toMatch(
      /unknown setting "__proto__"/,
    );
  });
});

const SECONDS = [
  'default_ttl_seconds',
  'held_ttl_seconds',
  'cleanup_interval_seconds',
  'max_lock_age_seconds',
] as const;
const FLAGS = [
  'auto_expire_enabled',
  'blocking_mode_enabled',
  'keep_history',
  'history_renewals',
  'adaptive_ttl_enabled',
] as const;
const MONTH = 30 * 24 * 3600;

describe('O4: a bad value is refused with what is allowed', () => {
  test.each<[SettingKey, string, readonly unknown[]]>([
    ...SECONDS.map((key): [SettingKey, string, unknown[]] => [
      key,
      SETTING_RULES[key].allowed,
      [0, -1, 0.09, NaN, Infinity, '30', null, undefined, true, 1e12, [30]],
    ]),
    ...FLAGS.map((key): [SettingKey, string, unknown[]] => [key, 'true or false', [0, 1, 'true', '', null, undefined]]),
    ['held_ttl_seconds', `seconds from 0.25 to ${MONTH}`, [0.1, 0.249, MONTH + 1]],
    ['min_ttl_seconds', `seconds from 0.1 to ${MONTH}`, [0, -1, NaN, '10']],
    ['max_ttl_seconds', `seconds from 0.1 to ${MONTH}`, [0, MONTH + 1, NaN, '10']],
    ['max_renewals', `a whole number from -1 to ${Number.MAX_SAFE_INTEGER}`, [-2, 1.5, NaN, 2 ** 53, '1', 1n]],
    ['acquisition_timeout_ms', 'a whole number from 0 to 86400000', [-1, 0.5, 86_400_001, Infinity, '5']],
    ['history_retention_days', 'a whole number from 1 to 3650', [0, -1, 3651, 1.5]],
    ['cascade_threshold', 'a whole number from 1 to 1000000', [0, 1_000_001]],
    ['recovery_batch_size', 'a whole number from 1 to 1000', [0, 1_001]],
    ['recovery_batch_delay_ms', 'a whole number from 0 to 60000', [-1, 60_001]],
    ['max_lock_age_action', "'report' or 'revoke'", ['', 'Report', 'delete', true, null]],
    [
      'history_archive_path',
      'an absolute path of at most 1024 characters, or empty',
      ['relative/path', './x', '/a\0b', `/${'x'.repeat(1_024)}`, 5, null],
    ],
    [
      'alert_webhook_url',
      'an http(s) URL of at most 2048 characters, or empty',
      ['ftp://x', 'x', 'javascript:1', 'http://', 'http://a b', `http://${'x'.repeat(2_048)}`, 5, null],
    ],
  ])('%s takes %s', (key, allowed, values) => {
    for (const value of values) {
      const message = refused({ [key]: value });
      expect(message.startsWith(`${key} takes ${allowed}, got `)).toBe(true);
      expect(message.length).toBeLessThan(200);
    }
  });

  test.each(AWKWARD)('%s, under every key', (_what, value, shownAs) => {
    for (const [key, { allowed }] of Object.entries(SETTING_RULES)) {
      expect(refused({ [key]: value })).toBe(`${key} takes ${allowed}, got ${shownAs}`);
    }
  });
});

test.each([null, undefined, 5, 'keep_history', true, () => ({})])('O4: %s is no settings at all', (changes) => {
  const given = changes as unknown as Record<string, unknown>;
  expect(refused(given)).toBe('settings are given as an object of keys and values');
});

describe('O4: values at their bounds pass', () => {
  test.each<[SettingKey, readonly unknown[]]>([
    ['default_ttl_seconds', [0.1, 0.5, 3600, MONTH]],
    ['held_ttl_seconds', [0.25, 30, MONTH]],
    ['cleanup_interval_seconds', [0.1, 24 * 3600]],
    ['max_lock_age_seconds', [0.1, 365 * 24 * 3600]],
    ['max_renewals', [-1, 0, Number.MAX_SAFE_INTEGER]],
    ['acquisition_timeout_ms', [0, 86_400_000]],
    ['history_retention_days', [1, 3650]],
    ['max_lock_age_action', ['report', 'revoke']],
    ['history_archive_path', ['', '/', '/var/log/leases.jsonl', `/${'x'.repeat(1_023)}`]],
    ['alert_webhook_url', ['', 'http://localhost:1/x', 'https://example.com/hook?a=b', `http://${'x'.repeat(2_041)}`]],
  ])('%s', (key, values) => {
    for (const value of values) expect(checkSettings({ [key]: value }, DEFAULT_SETTINGS)).toEqual({ [key]: value });
  });
});

describe('O4: the least ttl may not be above the greatest', () => {
  test.each([
    [{ min_ttl_seconds: 901 }, 901, 900],
    [{ max_ttl_seconds: 9 }, 10, 9],
    [{ min_ttl_seconds: 50, max_ttl_seconds: 40 }, 50, 40],
  ])('%j', (changes, min, max) => {
    expect(refused(changes)).toBe(`min_ttl_seconds (${min}) must not be above max_ttl_seconds (${max})`);
  });

  test('equal is fine, and both may move together past where each alone could not', () => {
    expect(checkSettings({ min_ttl_seconds: 900 }, DEFAULT_SETTINGS)).toEqual({ min_ttl_seconds: 900 });
    const both = { min_ttl_seconds: 1_000, max_ttl_seconds: 2_000 };
    expect(checkSettings(both, DEFAULT_SETTINGS)).toEqual(both);
  });
});

test('O4: one bad value among good ones refuses them all', () => {
  expect(refused({ keep_history: false, max_renewals: -2 })).toMatch(/^max_renewals takes/);
});
