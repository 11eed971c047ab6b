// What was typed for a setting, as the value that is sent: the kind is that of its default. What cannot be read as that kind is sent as
// it was typed, so that the server's own sentence says what it takes.
import type { SettingRule } from '../../api/types.js';

export type SettingValue = SettingRule['default'];

export function typedValue(text: string, rule: Pick<SettingRule, 'default'>): SettingValue {
  const kind = typeof rule.default;
  const plain = text.trim();
  if (kind === 'boolean') return plain === 'true' ? true : plain === 'false' ? false : text;
  if (kind !== 'number') return plain;
  const number = Number(plain.replace('−', '-'));
  return plain === '' || Number.isNaN(number) ? text : number;
}

export function shownValue(value: unknown): string {
  return value === '' ? 'empty' : String(value);
}

/** The groups settings are shown in, by how their names begin. */
export const GROUPS: readonly (readonly [string, RegExp])[] = [
  ['Durations', /ttl_|max_renewals|acquisition_timeout|blocking_mode/],
  ['History', /history/],
  ['Upkeep', /cleanup|auto_expire|max_lock_age/],
  ['Recovery', /cascade|recovery/],
  ['Alerts', /alert/],
];

export function grouped(rules: readonly SettingRule[]): [string, SettingRule[]][] {
  const groups = new Map<string, SettingRule[]>(GROUPS.map(([title]) => [title, []]));
  for (const rule of rules) {
    const title = GROUPS.find(([, names]) => names.test(rule.key))?.[0] ?? 'Others';
    groups.set(title, [...(groups.get(title) ?? []), rule]);
  }
  return [...groups].filter(([, list]) => list.length > 0);
}
