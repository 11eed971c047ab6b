// What befalls a crowd. Each misfortune begins, lasts for as long as was drawn for it, and is taken back by itself; several may
// be under way at once, but what is done to the server is done one after the other.
//
// | misfortune       | what really happens                                                  | where               |
// |------------------|----------------------------------------------------------------------|---------------------|
// | killed worker    | SIGKILL; a new process takes its place                               | everywhere          |
// | stopped worker   | SIGSTOP for longer than the ttl, then SIGCONT                        | everywhere          |
// | blocked loop     | the worker's event loop does nothing for longer than the ttl         | everywhere          |
// | stepped clock    | the wall clock of workers or server jumps by up to 5 s, either way   | with cc             |
// | full disk        | the file system of the store has no room; what dies of it is revived | with leave to mount |
// | slow fsync       | every flush takes up to 400 ms longer                                | with cc             |
// | cut connections  | some workers' connections are reset                                  | where a server is   |
// | black hole       | some workers' bytes vanish, both ways or only the answers            | where a server is   |
// | late answers     | requests pass, answers come up to a ttl later                        | where a server is   |
// | killed server    | SIGKILL (PostgreSQL: an immediate shutdown), then started again      | where a server is   |
import { setTimeout as delay } from 'node:timers/promises';
import type { Random } from '../../simulation/random.js';
import type { CutProxy } from '../../support/servers/cut-proxy.js';
import { revive, type Site } from './site.js';
import type { Worker } from './worker.js';

export const KINDS = [
  'killed worker',
  'stopped worker',
  'blocked loop',
  'stepped clock',
  'full disk',
  'slow fsync',
  'cut connections',
  'black hole',
  'late answers',
  'killed server',
] as const;
export type Kind = (typeof KINDS)[number];

/** What a misfortune takes hold of. */
export interface Victims {
  readonly site: Site;
  readonly slots: number;
  readonly ttl: number;
  readonly random: Random;
  worker(slot: number): Worker;
  /** Starts another in the place of the one that was killed. */
  replace(slot: number): void;
  /** What is done to the server happens in turn. */
  inTurn(todo: () => Promise<void>): Promise<void>;
}

/** Those that can happen there. */
export function kindsAt({ server, grounds }: Site): Kind[] {
  const needsServer: readonly Kind[] = ['cut connections', 'black hole', 'late answers', 'killed server'];
  return KINDS.filter((kind) => {
    if (needsServer.includes(kind)) return server !== undefined;
    if (kind === 'stepped clock') return grounds.clocks !== undefined;
    if (kind === 'slow fsync') return grounds.slowDisk !== undefined;
    return kind !== 'full disk' || grounds.disk !== undefined;
  });
}

/** Everything is drawn before anything happens, so that a seed tells the same story whatever takes how long. */
export function begin(kind: Kind, victims: Victims): Promise<void> {
  const { site, ttl } = victims;
  const random = victims.random.fork();
  const slot = random.whole(0, victims.slots - 1);
  switch (kind) {
    case 'killed worker':
      victims.worker(slot).signal('SIGKILL');
      victims.replace(slot);
      return Promise.resolve();
    case 'stopped worker':
      return stop(victims.worker(slot), random.between(1.2, 2) * ttl);
    case 'blocked loop':
      victims.worker(slot).tell(`block ${Math.round(random.between(1.2, 2) * ttl)}`);
      return Promise.resolve();
    case 'stepped clock': {
      const whose = site.server !== undefined && random.chance(0.7) ? 'server' : 'workers';
      site.grounds.clocks?.[whose].step(Math.round(random.between(-5_000, 5_000)));
      return Promise.resolve();
    }
    case 'full disk': {
      const ms = random.between(500, 2_000);
      return victims.inTurn(() => fill(site, ms));
    }
    case 'slow fsync':
      return slow(site, random.between(50, 400), random.between(1_000, 3_000));
    case 'cut connections':
      for (const link of someLinks(victims, random)) link.cut();
      return Promise.resolve();
    case 'black hole':
      return swallow(someLinks(victims, random), random.chance(0.5) ? 'both' : 'answers', random.between(0.5, 2) * ttl);
    case 'late answers':
      return delayAnswers(someLinks(victims, random), random.between(0.05, 1) * ttl, random.between(1, 2) * ttl);
    case 'killed server': {
      const ms = random.between(0, ttl);
      return victims.inTurn(() => restart(site, ms));
    }
  }
}

/** Of one worker, of all, or of something between. */
function someLinks({ site, slots }: Victims, random: Random): CutProxy[] {
  const share = random.next();
  return Array.from({ length: slots }, (_, slot) => slot)
    .filter(() => random.chance(share))
    .flatMap((slot) => [...site.links(slot)]);
}

async function stop(worker: Worker, ms: number): Promise<void> {
  worker.signal('SIGSTOP');
  await delay(ms);
  worker.signal('SIGCONT');
}

async function fill({ grounds, server }: Site, ms: number): Promise<void> {
  grounds.disk?.fill();
  try {
    await delay(ms);
  } finally {
    grounds.disk?.free();
  }
  if (server) await revive(server);
}

async function slow({ grounds }: Site, flushMs: number, ms: number): Promise<void> {
  grounds.slowDisk?.set(flushMs);
  await delay(ms);
  grounds.slowDisk?.set(0);
}

async function swallow(links: readonly CutProxy[], what: 'both' | 'answers', ms: number): Promise<void> {
  for (const link of links) {
    link.blackHole(what);
    link.newConnections('swallow');
  }
  await delay(ms);
  for (const link of links) link.heal();
}

async function delayAnswers(links: readonly CutProxy[], lateMs: number, ms: number): Promise<void> {
  for (const link of links) link.delayAnswers(lateMs);
  await delay(ms);
  for (const link of links) link.delayAnswers(0);
}

async function restart({ server }: Site, ms: number): Promise<void> {
  await server?.kill();
  await delay(ms);
  if (server) await revive(server);
}
