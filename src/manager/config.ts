// The settings kept in the store (O4): read, set, all. Unknown keys and bad values are refused with what is allowed.
import { invalid, shown } from '../domain/errors.js';
import { SETTING_RULES, type SettingKey, type Settings } from '../domain/settings.js';
import type { StoreLink } from './store-link.js';

const CALL_TIMEOUT_MS = 10_000;

export class Config {
  readonly #link: StoreLink;

  constructor(link: StoreLink) {
    this.#link = link;
  }

  async get<K extends SettingKey>(key: K): Promise<Settings[K]> {
    if (!Object.hasOwn(SETTING_RULES, key)) {
      throw invalid(`unknown setting ${shown(key)}: known are ${Object.keys(SETTING_RULES).join(', ')}`);
    }
    return (await this.all())[key];
  }

  async set<K extends SettingKey>(key: K, value: Settings[K]): Promise<void> {
    const asked = this.#link.call('settings', (store) => store.setSettings({ [key]: value }));
    await this.#link.within(CALL_TIMEOUT_MS, 'settings', asked);
  }

  async all(): Promise<Settings> {
    const asked = this.#link.call('settings', (store) => store.settings());
    return (await this.#link.within(CALL_TIMEOUT_MS, 'settings', asked)).settings;
  }
}
