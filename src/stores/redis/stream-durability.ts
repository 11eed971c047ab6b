// N6: what was answered as committed survives. A Redis keeps that promise when it writes every change to its append-only file
// before it answers; it is asked at the moment a stream is opened, because CONFIG SET changes it while the server runs.
import { LeaseError } from '../../domain/errors.js';
import { pairsOf } from './connections.js';
import type { RedisLink } from './link.js';

const WANTED: Readonly<Record<string, string>> = {
  appendonly: 'yes',
  appendfsync: 'always',
  // `yes` leaves out the wait for the disk whenever the file is rewritten in the background.
  'no-appendfsync-on-rewrite': 'no',
};
const OR_ACCEPT = "or accept that with { durability: 'accept-loss' }";

/** What survives, in one phrase. Refuses a server that may lose what it has answered, unless that is accepted. */
export async function streamDurability(link: RedisLink, key: string, acceptLoss: boolean): Promise<string> {
  const settings = await settingsOf(link, key);
  if (settings === undefined) {
    if (acceptLoss) return 'not known (CONFIG is forbidden); that committed operations may be lost is accepted';
    throw refused(
      `the server does not say whether a commit is on its disk when it answers (CONFIG GET is forbidden): allow config|get, use another store, ${OR_ACCEPT}`,
      {},
    );
  }
  const wrong = Object.entries(WANTED).filter(([name, value]) => settings.get(name) !== value);
  if (wrong.length === 0) return 'a committed operation is in the append-only file, on disk, before it is answered';
  const found = wrong.map(([name]) => `${name} ${settings.get(name) ?? 'unknown'}`).join(', ');
  if (acceptLoss) return `committed operations may be lost (${found}), which is accepted`;
  const orders = wrong.map(([name, value]) => `CONFIG SET ${name} ${value}`).join(', ');
  const message = `the server may lose committed operations (${found}): ${orders}, and in its configuration file, ${OR_ACCEPT}`;
  throw refused(message, Object.fromEntries(settings));
}

async function settingsOf(link: RedisLink, key: string): Promise<ReadonlyMap<string, string> | undefined> {
  try {
    return pairsOf(await link.command(key, ['CONFIG', 'GET', ...Object.keys(WANTED)]));
  } catch (error) {
    if (isForbidden(error)) return undefined;
    throw error;
  }
}

/** Not for this user, or not for anybody: managed services take the command away. */
function isForbidden(error: unknown): boolean {
  return error instanceof LeaseError && (error.code === 'FORBIDDEN' || error.code === 'STORE_INCOMPATIBLE');
}

function refused(message: string, details: Readonly<Record<string, string>>): LeaseError {
  return new LeaseError('STORE_INCOMPATIBLE', message, { details });
}
