// Settings of a namespace (O4): kept as JSON, only what differs from the defaults. A change is checked here against what was
// read and takes effect only if nobody changed them meanwhile; else everything is looked at again.
import { LeaseError } from '../../domain/errors.js';
import { checkSettings, DEFAULT_SETTINGS, type Settings } from '../../domain/settings.js';
import type { SettingsReply } from '../store.js';
import { SCRIPTS } from './lua/scripts.js';
import type { Namespace } from './namespace.js';

const MOST_TRIES = 20;

export async function readSettings(namespace: Namespace): Promise<SettingsReply> {
  const { reply, rest } = await namespace.look(SCRIPTS.settings, []);
  return { ...reply, settings: { ...DEFAULT_SETTINGS, ...(JSON.parse(String(rest[0])) as Partial<Settings>) } };
}

export async function writeSettings(
  namespace: Namespace,
  changes: Readonly<Record<string, unknown>>,
): Promise<SettingsReply> {
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
    const { settings: before, settingsVersion } = await readSettings(namespace);
    const settings: Settings = { ...before, ...checkSettings(changes, before) };
    const changed = Object.entries(settings).filter(
      ([key, value]) => value !== DEFAULT_SETTINGS[key as keyof Settings],
    );
    const { reply, rest } = await namespace.write(SCRIPTS.setSettings, [
      String(settingsVersion),
      JSON.stringify(Object.fromEntries(changed)),
      settings.keep_history ? '1' : '0',
      settings.history_renewals ? '1' : '0',
    ]);
    if (rest[0] === 'set') return { ...reply, settings };
  }
  throw new LeaseError('STORE_UNAVAILABLE', 'somebody else changes the settings all the time: try again');
}
