// What each setting does, in a sentence or two for whoever is about to change it. Shown beside the setting wherever settings are
// shown to people; what is allowed and what is usual stands in `settings.ts`.
import type { SettingKey } from './settings.js';

export const SETTING_NOTES: Readonly<Record<SettingKey, string>> = {
  default_ttl_seconds:
    'How long a lease lasts that nobody renews by itself: one taken by the command or over HTTP without a ttl of its own.',
  held_ttl_seconds:
    'How long a lease of a running program lasts, which renews it by itself. A program that dies is noticed within this time.',
  max_renewals: 'How often a lease may be renewed when its taker does not say; -1 is without a bound.',
  acquisition_timeout_ms: 'How long a request waits in the queue when it does not say.',
  cleanup_interval_seconds:
    'How often what has run out is written down, and alerts and recovery take their turn. Leases end on time whatever it is.',
  auto_expire_enabled:
    'Writes down what has run out on names that nobody touches. Off: leases end all the same, the history tells it later.',
  blocking_mode_enabled: 'Requests may wait in a queue. Off: whatever is not free is refused at once.',
  keep_history: 'Keeps the log of what happened. Off: history, live events and this page know less.',
  history_renewals: 'Also writes every renewal to the log. It grows fast.',
  history_retention_days: 'What is older is removed from the log.',
  history_archive_path:
    'A file on the machine of the services to which old rows of the log are written before they are removed; empty for none.',
  cascade_threshold: 'More numbers than this that run out in one sweep put recovery into its careful mode.',
  recovery_batch_size: 'How many numbers are recovered at once in the careful mode.',
  recovery_batch_delay_ms: 'The pause between two batches in the careful mode.',
  max_lock_age_seconds: 'A lease held for longer is reported.',
  max_lock_age_action:
    'What is done about a lease that is too old: reported, or revoked if it is not renewed any more.',
  adaptive_ttl_enabled: 'Leases of running programs last twice as long as work under their name usually takes.',
  min_ttl_seconds: 'The shortest duration that is chosen for a lease by what its work usually takes.',
  max_ttl_seconds: 'The longest such duration, and the bound when recovery makes durations longer.',
  alert_webhook_url: 'Where alerts are sent, signed with the secret the server was started with; empty for nowhere.',
};
