// The adaptive ttl (A4, O1): twice what work under a key took on average, stretched when the load is high, and always
// within `min_ttl_seconds` and `max_ttl_seconds`. Keys and observations are bounded; the key unused for longest goes first.
import type { Load } from '../domain/load.js';
import type { Settings } from '../domain/settings.js';

const MAX_KEYS = 1_000;
const WINDOW = 50;
const HEADROOM = 2;
const LOAD_FACTOR: { readonly [L in Load]: number } = { low: 1, medium: 1.5, high: 2, unknown: 2 };

type Bounds = Pick<Settings, 'held_ttl_seconds' | 'min_ttl_seconds' | 'max_ttl_seconds'>;

export class AdaptiveTtl {
  /** The last durations of each key, oldest first; the keys in order of their last use. */
  readonly #durations = new Map<string, number[]>();

  /** Work under `key` took this long. What is no duration is ignored. */
  observe(key: string, heldMs: number): void {
    if (!Number.isFinite(heldMs) || heldMs < 0) return;
    const known = this.#use(key);
    if (known) {
      known.push(heldMs);
      if (known.length > WINDOW) known.shift();
      return;
    }
    this.#durations.set(key, [heldMs]);
    if (this.#durations.size <= MAX_KEYS) return;
    const [oldest = key] = this.#durations.keys();
    this.#durations.delete(oldest);
  }

  /** Whole milliseconds. Nothing observed yet: `held_ttl_seconds`, within the same bounds. */
  ttlMs(key: string, settings: Bounds, load: Load): number {
    const durations = this.#use(key);
    const wanted = durations ? meanOf(durations) * HEADROOM * LOAD_FACTOR[load] : settings.held_ttl_seconds * 1_000;
    const bounded = Math.min(Math.max(wanted, settings.min_ttl_seconds * 1_000), settings.max_ttl_seconds * 1_000);
    return Math.ceil(bounded);
  }

  #use(key: string): number[] | undefined {
    const durations = this.#durations.get(key);
    if (!durations) return undefined;
    this.#durations.delete(key);
    this.#durations.set(key, durations);
    return durations;
  }
}

function meanOf(durations: readonly number[]): number {
  return durations.reduce((sum, one) => sum + one, 0) / durations.length;
}
