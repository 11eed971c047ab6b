// What is typed for a setting, how values are shown, and the groups they stand in.
import { expect, test } from 'vitest';
import { DEFAULT_SETTINGS } from '../../../../src/domain/settings.js';
import { grouped, shownValue, typedValue } from './setting-value.js';

test.each([
  ['45', 30, 45],
  [' 0.5 ', 30, 0.5],
  ['-1', 30, -1],
  ['−1', 30, -1],
  ['soon', 30, 'soon'],
  ['', 30, ''],
  ['true', false, true],
  ['false', true, false],
  ['yes', true, 'yes'],
  [' /var/log/x ', '', '/var/log/x'],
])('what is typed has the kind of the default, or is sent as it is: %j', (text, usual, value) => {
  expect(typedValue(text, { default: usual })).toBe(value);
});

test('an empty text is seen', () => {
  expect([shownValue(''), shownValue(false), shownValue(3)]).toEqual(['empty', 'false', '3']);
});

test('every setting is in a group of its own', () => {
  const rules = Object.entries(DEFAULT_SETTINGS).map(([key, usual]) => ({
    key,
    about: '',
    allowed: '',
    default: usual as string,
  }));
  const groups = grouped(rules);
  expect(groups.flatMap(([, list]) => list)).toHaveLength(rules.length);
  expect(groups.map(([title]) => title)).toEqual(['Durations', 'History', 'Upkeep', 'Recovery', 'Alerts']);
});
