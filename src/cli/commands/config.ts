// holdfast config (C7): the settings kept in the store. They are defaults and never change a live lease (O4).
import type { Command } from 'commander';
import { SETTING_RULES, type SettingKey, type Settings } from '../../domain/settings.js';
import type { Context } from '../context.js';
import { safe } from '../escape.js';
import { usage } from '../exit-codes.js';
import { examples } from '../help.js';
import { nearest } from '../nearest.js';

export function define(command: Command, context: Context): void {
  command
    .command('ls', { isDefault: true })
    .summary('all settings')
    .description('All settings; one that was changed shows what it is by default.')
    .action(async () => {
      const all = await (await context.look()).config.all();
      if (context.isJson) context.output.json(all);
      else for (const line of lines(all)) context.output.line(line);
    });
  command
    .command('get <key>')
    .summary('one setting')
    .description('One setting.')
    .action(async (key: string) => {
      const known = keyOf(key);
      const value = await (await context.look()).config.get(known);
      if (context.isJson) context.output.json({ [known]: value });
      else context.output.line(safe(String(value)));
    });
  command
    .command('set <key> <value>')
    .summary('change one setting')
    .description('Change one setting, for everybody who uses the store.')
    .action(async (key: string, text: string) => {
      const known = keyOf(key);
      const value = valueOf(known, text);
      await (await context.open()).config.set(known, value);
      if (context.isJson) context.output.json({ [known]: value });
      else context.output.line(`${known} is now ${safe(text)}`);
    });
  examples(command, [
    ['holdfast config', 'every setting'],
    ['holdfast config get held_ttl_seconds', 'one'],
    ['holdfast config set held_ttl_seconds 60', 'for everybody who uses the store'],
  ]);
}

function* lines(all: Settings): Generator<string> {
  const keys = Object.keys(SETTING_RULES) as SettingKey[];
  const width = Math.max(...keys.map((key) => key.length));
  for (const key of keys) {
    const { default: usual } = SETTING_RULES[key];
    const changed = all[key] === usual ? '' : `  (default ${shownValue(usual)})`;
    yield `${key.padEnd(width)}  ${shownValue(all[key])}${changed}`;
  }
}

function shownValue(value: unknown): string {
  return value === '' ? "''" : safe(String(value));
}

function keyOf(text: string): SettingKey {
  if (Object.hasOwn(SETTING_RULES, text)) return text as SettingKey;
  const keys = Object.keys(SETTING_RULES);
  const guess = nearest(text, keys);
  const next = guess === undefined ? 'see them all with `holdfast config`' : `Did you mean ${guess}?`;
  throw usage(`there is no setting ${text}: ${next}`);
}

/** Text from the command line in the type that the setting has. */
function valueOf<K extends SettingKey>(key: K, text: string): Settings[K] {
  const rule = SETTING_RULES[key];
  const value = typeof rule.default === 'string' ? text : parsed(text);
  if (!rule.accepts(value)) throw usage(`${key} takes ${rule.allowed}, got ${JSON.stringify(text)}`);
  return value as Settings[K];
}

function parsed(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^[+-]?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}
