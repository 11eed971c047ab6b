// Figures in words, and names that can be typed after `holdfast`.

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** `40 ms`, `2.5 s`, `4 min`, `3 h` */
export function duration(ms: number): string {
  const size = Math.abs(ms);
  if (size < 1_000) return `${Math.round(ms)} ms`;
  if (size < MINUTE) return `${Math.round(ms / 100) / 10} s`;
  if (size < HOUR) return `${Math.round(ms / MINUTE)} min`;
  return `${Math.round((ms / HOUR) * 10) / 10} h`;
}

/** `3 MiB`, `1.2 GiB` */
export function bytes(count: number): string {
  const mib = count / 1024 / 1024;
  if (mib >= 1024) return `${Math.round((mib / 1024) * 10) / 10} GiB`;
  return mib >= 10 ? `${Math.round(mib)} MiB` : `${Math.round(mib * 10) / 10} MiB`;
}

/** One of them: `1 lease`, `2 leases`. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}

/** As an argument of a shell: names may hold anything. */
export function typed(name: string): string {
  return /^[\w@%+=:,./-]+$/.test(name) ? name : `'${name.replaceAll("'", `'\\''`)}'`;
}

/** The middle one, and the one of so many percent; 0 of none. */
export function percentile(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil((percent / 100) * sorted.length) - 1)] ?? 0;
}
