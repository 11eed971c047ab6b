// The counters of a namespace, as the scripts keep them: one text, in the field without a name of its rows (src/stores/redis/lua/step.ts).
// Before format 4 it was in a key of its own, and that field was empty.
import { keysOf } from '../../src/stores/redis/keys.js';
import type { Admin } from './redis-site.js';

const [META = '', ROWS = ''] = keysOf('default');

export async function readCounters(admin: Admin): Promise<string> {
  return (await admin.hGet(ROWS, '')) ?? '';
}

export async function changeCounters(admin: Admin, change: (text: string) => string): Promise<void> {
  await admin.hSet(ROWS, '', change(await readCounters(admin)));
}

/** Puts them where they were before. */
export async function changeCountersBack(admin: Admin, change: (text: string) => string): Promise<void> {
  await admin.set(META, change(await readCounters(admin)));
  await admin.hSet(ROWS, '', '');
}

/** The key of before: what older code reads. */
export async function readCountersOfBefore(admin: Admin): Promise<string> {
  return (await admin.get(META)) ?? '';
}
