// Settings kept in the store (contract, section 9): names and units are the source documents'. They are defaults and
// never change a live lease. Unknown keys and bad values are refused with what is allowed (O4).
import { invalid, shown } from './errors.js';
import { LIMITS } from './limits.js';

export interface Settings {
  readonly default_ttl_seconds: number;
  readonly held_ttl_seconds: number;
  readonly max_renewals: number;
  readonly acquisition_timeout_ms: number;
  readonly cleanup_interval_seconds: number;
  readonly auto_expire_enabled: boolean;
  readonly blocking_mode_enabled: boolean;
  readonly keep_history: boolean;
  readonly history_renewals: boolean;
  readonly history_retention_days: number;
  readonly history_archive_path: string;
  readonly cascade_threshold: number;
  readonly recovery_batch_size: number;
  readonly recovery_batch_delay_ms: number;
  readonly max_lock_age_seconds: number;
  readonly max_lock_age_action: 'report' | 'revoke';
  readonly adaptive_ttl_enabled: boolean;
  readonly min_ttl_seconds: number;
  readonly max_ttl_seconds: number;
  readonly alert_webhook_url: string;
}
export type SettingKey = keyof Settings;

interface Rule<T> {
  readonly default: T;
  readonly allowed: string;
  /** Where only a few values are allowed. */
  readonly choices?: readonly T[];
  readonly accepts: (value: unknown) => boolean;
}

function whole(fallback: number, min: number, max: number): Rule<number> {
  const accepts = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
  return { default: fallback, allowed: `a whole number from ${min} to ${max}`, accepts };
}
function seconds(fallback: number, max: number, min = 0.1): Rule<number> {
  const accepts = (value: unknown): boolean => typeof value === 'number' && value >= min && value <= max;
  return { default: fallback, allowed: `seconds from ${min} to ${max}`, accepts };
}
function flag(fallback: boolean): Rule<boolean> {
  const accepts = (value: unknown): boolean => typeof value === 'boolean';
  return { default: fallback, allowed: 'true or false', choices: [true, false], accepts };
}
function text(allowed: string, accepts: (value: string) => boolean): Rule<string> {
  return { default: '', allowed, accepts: (value) => typeof value === 'string' && accepts(value) };
}

const MONTH_SECONDS = 30 * 24 * 3600;
const DAY_MS = 24 * 3600 * 1000;

export const SETTING_RULES: { readonly [K in SettingKey]: Rule<Settings[K]> } = {
  default_ttl_seconds: seconds(3600, MONTH_SECONDS),
  held_ttl_seconds: seconds(30, MONTH_SECONDS, LIMITS.minTtlAutoMs / 1_000),
  max_renewals: whole(-1, -1, Number.MAX_SAFE_INTEGER),
  acquisition_timeout_ms: whole(30_000, 0, DAY_MS),
  cleanup_interval_seconds: seconds(30, 24 * 3600),
  auto_expire_enabled: flag(true),
  blocking_mode_enabled: flag(true),
  keep_history: flag(true),
  history_renewals: flag(false),
  history_retention_days: whole(30, 1, 3650),
  history_archive_path: text(
    'an absolute path of at most 1024 characters, or empty',
    (v) => v === '' || (v.startsWith('/') && v.length <= 1024 && !v.includes('\0')),
  ),
  cascade_threshold: whole(10, 1, 1_000_000),
  recovery_batch_size: whole(50, 1, 1_000),
  recovery_batch_delay_ms: whole(100, 0, 60_000),
  max_lock_age_seconds: seconds(3600, 365 * 24 * 3600),
  max_lock_age_action: {
    default: 'report',
    allowed: "'report' or 'revoke'",
    choices: ['report', 'revoke'],
    accepts: (value) => value === 'report' || value === 'revoke',
  },
  adaptive_ttl_enabled: flag(false),
  min_ttl_seconds: seconds(10, MONTH_SECONDS),
  max_ttl_seconds: seconds(900, MONTH_SECONDS),
  alert_webhook_url: text(
    'an http(s) URL of at most 2048 characters, or empty',
    (v) => v === '' || (v.length <= 2048 && /^https?:\/\/[^\s]+$/.test(v)),
  ),
};

export const DEFAULT_SETTINGS: Settings = Object.freeze(
  Object.fromEntries(Object.entries(SETTING_RULES).map(([key, rule]) => [key, rule.default])) as unknown as Settings,
);

/** Checks what a caller wants to set and answers it typed; nothing is accepted in part. */
export function checkSettings(changes: Readonly<Record<string, unknown>>, present: Settings): Partial<Settings> {
  if (typeof changes !== 'object' || changes === null)
    throw invalid('settings are given as an object of keys and values');
  const entries = Object.entries(changes);
  for (const [key, value] of entries) {
    if (!Object.hasOwn(SETTING_RULES, key)) {
      throw invalid(
        `unknown setting ${JSON.stringify(key.slice(0, 80))}: known are ${Object.keys(SETTING_RULES).join(', ')}`,
      );
    }
    const rule = SETTING_RULES[key as SettingKey];
    if (!rule.accepts(value)) throw invalid(`${key} takes ${rule.allowed}, got ${shown(value)}`);
  }
  const after = { ...present, ...changes };
  if (after.min_ttl_seconds > after.max_ttl_seconds) {
    throw invalid(
      `min_ttl_seconds (${after.min_ttl_seconds}) must not be above max_ttl_seconds (${after.max_ttl_seconds})`,
    );
  }
  return changes;
}
