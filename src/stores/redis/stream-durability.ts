// N6: what was answered as committed survives. A Redis keeps that promise when it writes every change to its append-only file
// before it answers; it is asked at the moment a stream is opened, because CONFIG SET changes it while the server runs. Of a cluster
// every primary is asked: the slot of the namespace may move to any of them.
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
export async function streamDurability(link: RedisLink, acceptLoss: boolean): Promise<string> {
  const servers = await settingsOf(link);
  if (servers === undefined) {
    if (acceptLoss) return 'not known (CONFIG is forbidden); that committed operations may be lost is accepted';
    throw refused(
      `the server does not say whether a commit is on its disk when it answers (CONFIG GET is forbidden): allow config|get, use another store, ${OR_ACCEPT}`,
      {},
    );
  }
  const settings = servers.find((one) => wrongIn(one).length > 0);
  if (settings === undefined) return 'a committed operation is in the append-only file, on disk, before it is answered';
  const wrong = wrongIn(settings);
  const found = wrong.map(([name]) => `${name} ${settings.get(name) ?? 'unknown'}`).join(', ');
  if (acceptLoss) return `committed operations may be lost (${found}), which is accepted`;
  const orders = wrong.map(([name, value]) => `CONFIG SET ${name} ${value}`).join(', ');
  const who = servers.length > 1 ? 'a primary of the cluster' : 'the server';
  const message = `${who} may lose committed operations (${found}): ${orders}, and in its configuration file, ${OR_ACCEPT}`;
  throw refused(message, Object.fromEntries(settings));
}

type Found = ReadonlyMap<string, string>;

function wrongIn(settings: Found): [name: string, wanted: string][] {
  return Object.entries(WANTED).filter(([name, value]) => settings.get(name) !== value);
}

async function settingsOf(link: RedisLink): Promise<readonly Found[] | undefined> {
  try {
    return (await link.commandToAll(['CONFIG', 'GET', ...Object.keys(WANTED)])).map(pairsOf);
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
