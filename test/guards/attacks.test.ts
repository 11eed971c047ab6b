// S11: for each guard, 200 writes of a holder that was really stopped (SIGSTOP) past the end of its leases, while another
// process took them over and wrote. Through the guard every one is refused and the newer value stands; past it, the same
// writes of the same process destroy it. Prints the table of docs/testing.md.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { startChild, type Child } from '../support/child.js';
import { startPostgres, type PostgresServer } from '../support/servers/postgres-server.js';
import { startRedis, type RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { FRAMEWORKS, serve } from './fenced-server.js';

const ATTACKS = 200;
const TTL_MS = 1_500;

interface Written {
  landed: number;
  refused: number;
  codes: Record<string, number>;
}
interface Scene {
  readonly store: string;
  readonly place: string;
  close(): Promise<void>;
}
const table: string[][] = [];
afterAll(() => {
  const head = ['guard', 'attacks', 'refused', 'damage with', 'damage without'];
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rows = table.map((cells) => line(cells));
  process.stdout.write(`\n${[line(head), line(head.map(() => '---')), ...rows].join('\n')}\n`);
});

async function ask(child: Child, order: string, key: string, facts: object, answer: string): Promise<string> {
  child.tell(`${order} ${key} ${JSON.stringify(facts)}`);
  const begin = `${answer} ${key} `;
  return (await child.line(begin)).slice(begin.length);
}
async function write(child: Child, key: string, value: string, guarded: boolean): Promise<Written> {
  return JSON.parse(await ask(child, 'write', key, { value, guarded }, 'wrote')) as Written;
}
async function damage(child: Child, key: string): Promise<number> {
  const values = JSON.parse(await ask(child, 'read', key, {}, 'values')) as Record<string, number>;
  expect(values['newer'] ?? 0).toBe(ATTACKS - (values['late'] ?? 0));
  return values['late'] ?? 0;
}

async function attack(guard: string, scene: Scene): Promise<void> {
  const children: Child[] = [];
  const start = async (owner: string): Promise<Child> => {
    const child = startChild('../guards/attack-child.mjs', scene.store, owner, guard, scene.place);
    children.push(child);
    await child.line('open');
    return child;
  };
  try {
    const [older, newer] = [await start('older'), await start('newer')]; // one by one: the first makes the tables
    expect(await ask(older, 'hold', 'a', { count: ATTACKS, ttl: TTL_MS }, 'held')).toBe(String(ATTACKS));
    older.process.kill('SIGSTOP');
    await ask(newer, 'hold', 'a', { count: ATTACKS, wait: '60s' }, 'held');
    expect(await write(newer, 'b', 'newer', true)).toEqual({ landed: ATTACKS, refused: 0, codes: {} });
    older.process.kill('SIGCONT');
    const attacked = await write(older, 'c', 'late', true);
    const damageWith = await damage(newer, 'd');
    await write(older, 'e', 'late', false);
    const damageWithout = await damage(newer, 'f');
    table.push([guard, String(ATTACKS), String(attacked.refused), String(damageWith), String(damageWithout)]);
    expect(attacked).toMatchObject({ landed: 0, refused: ATTACKS });
    const known = (attacked.codes['STALE_EPOCH'] ?? 0) + (attacked.codes['LEASE_LOST'] ?? 0);
    expect(known).toBe(ATTACKS);
    expect(damageWith).toBe(0);
    expect(damageWithout).toBeGreaterThan(0);
    for (const child of children) child.tell('stop');
    expect(await Promise.all(children.map((child) => child.ended))).toEqual([0, 0]);
  } finally {
    for (const child of children) child.process.kill('SIGKILL');
    await scene.close();
  }
}

/** Leases in a file, and what is written in a folder beside it. */
function onDisk(): Scene {
  const folder = temporaryFolder();
  return {
    store: `sqlite:${join(folder.path, 'leases.db')}`,
    place: folder.path,
    close: async () => folder.remove(),
  };
}

describe('S11, G2: guardSqlite', () => {
  test('with its gate table', async () => attack('guardSqlite', onDisk()));
  test('with the lease file attached', async () => attack('guardSqlite, lease file attached', onDisk()));
});

describe('S11, G4: gates', () => {
  test('sqlGate in SQLite', async () => attack('sqlGate, SQLite', onDisk()));
  test('fileGate', async () => {
    const scene = onDisk();
    const place = join(scene.place, 'files');
    mkdirSync(place);
    await attack('fileGate', { ...scene, place });
  });
  test.each(FRAMEWORKS)('httpFence with %s', async (framework) => {
    const scene = onDisk();
    const server = await serve(framework);
    const close = async (): Promise<void> => {
      await server.close();
      await scene.close();
    };
    await attack(`httpFence, ${framework}`, { ...scene, place: server.url, close });
  });
});

describe.skipIf(isSkipped('redis'))('S11, G3 and G4: in Redis', () => {
  let server: RedisServer;
  const onRedis = async (): Promise<Scene> => {
    server = await startRedis();
    return { store: server.url, place: server.url, close: () => server.remove() };
  };
  test('guardedScript', async () => attack('guardedScript', await onRedis()));
  test('redisGate', async () => attack('redisGate', await onRedis()));
});

describe.skipIf(isSkipped('postgres'))('S11, G1 and G4: in PostgreSQL', () => {
  let server: PostgresServer;
  const onPostgres = async (): Promise<Scene> => {
    server = await startPostgres();
    return { store: server.url, place: server.url, close: () => server.remove() };
  };
  test('guardPostgres', async () => attack('guardPostgres', await onPostgres()));
  test('sqlGate', async () => attack('sqlGate, PostgreSQL', await onPostgres()));
});
