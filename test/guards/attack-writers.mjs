// The same write, a value under a number, in each of the places that have a guard: through it, or past it.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  fenceHeaders,
  fileGate,
  gateTableSql,
  guardedKey,
  guardedScript,
  guardPostgres,
  guardSqlite,
  redisGate,
  sqlGate,
} from 'holdfast/guards';
import { LeaseError } from 'holdfast';

const numbers = (count) => Array.from({ length: count }, (_, i) => i);

async function postgres(url, admit) {
  const { default: pg } = await import('pg');
  const pool = new pg.Pool({ connectionString: url, max: 8 });
  await pool.query('CREATE TABLE IF NOT EXISTS data (n int PRIMARY KEY, value text)');
  await pool.query(gateTableSql('postgres'));
  return {
    async write(lease, n, value, guarded) {
      const tx = await pool.connect();
      try {
        await tx.query('BEGIN');
        if (guarded) await admit(tx, lease);
        await tx.query('INSERT INTO data VALUES ($1, $2) ON CONFLICT (n) DO UPDATE SET value = $2', [n, value]);
        await tx.query('COMMIT');
      } catch (error) {
        await tx.query('ROLLBACK');
        throw error;
      } finally {
        tx.release();
      }
    },
    values: async () => (await pool.query('SELECT value FROM data')).rows.map((row) => row.value),
    close: () => pool.end(),
  };
}

async function sqlite(place, admit, attach) {
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(join(place, 'app.db'), { timeout: 5_000 });
  db.pragma('journal_mode = WAL');
  db.exec('CREATE TABLE IF NOT EXISTS data (n INTEGER PRIMARY KEY, value TEXT)');
  if (attach) db.prepare('ATTACH ? AS leases').run(join(place, 'leases.db'));
  return {
    isAlone: true, // one connection, one transaction at a time
    async write(lease, n, value, guarded) {
      db.exec('BEGIN IMMEDIATE');
      try {
        if (guarded) await admit(db, lease);
        db.prepare('INSERT OR REPLACE INTO data VALUES (?, ?)').run(n, value);
        db.exec('COMMIT');
      } finally {
        if (db.inTransaction) db.exec('ROLLBACK');
      }
    },
    values: async () => db.prepare('SELECT value FROM data').pluck().all(),
    close: async () => db.close(),
  };
}

const SET = "return redis.call('SET', KEYS[1], ARGV[1])";

async function redis(url, guard) {
  const { createClient } = await import('redis');
  const client = createClient({ url });
  await client.connect();
  const key = (n) => `{default}:value:${n}`;
  const script = guard === 'guardedScript' ? guardedScript(SET) : redisGate(client, '{default}:gate').script(SET);
  return {
    async write(lease, n, value, guarded) {
      if (!guarded) await client.set(key(n), value);
      else if (guard === 'guardedScript') await script.run(client, lease, [guardedKey(lease, `value:${n}`)], [value]);
      else await script.run(lease, [key(n)], [value]);
    },
    values: async (count) => client.mGet(numbers(count).map(key)),
    close: async () => client.destroy(),
  };
}

async function files(folder) {
  const gate = fileGate(folder);
  return {
    async write(lease, n, value, guarded) {
      if (guarded) await gate.write(lease, `${n}.txt`, value);
      else await writeFile(join(folder, `${n}.txt`), value);
    },
    values: (count) => Promise.all(numbers(count).map((n) => readFile(join(folder, `${n}.txt`), 'utf8'))),
    close: async () => gate.close(),
  };
}

/** Two servers in one: below /fenced the middleware stands before the handler, below /open nothing does. */
async function http(url) {
  return {
    async write(lease, n, value, guarded) {
      const headers = guarded ? fenceHeaders(lease) : {};
      const response = await fetch(`${url}/${guarded ? 'fenced' : 'open'}/${n}/${value}`, { method: 'PUT', headers });
      const body = await response.text();
      if (response.status === 412) throw new LeaseError(JSON.parse(body).code, body);
      if (!response.ok) throw new Error(`${response.status} ${body}`);
    },
    values: async () => (await fetch(`${url}/values`)).json(),
    close: async () => undefined,
  };
}

export async function openWriter(kind, place) {
  switch (kind) {
    case 'guardPostgres':
      return postgres(place, guardPostgres);
    case 'sqlGate, PostgreSQL':
      return postgres(place, (tx, lease) => sqlGate(tx).claim(lease));
    case 'guardSqlite':
      return sqlite(place, guardSqlite, false);
    case 'guardSqlite, lease file attached':
      return sqlite(place, guardSqlite, true);
    case 'sqlGate, SQLite':
      return sqlite(place, (db, lease) => sqlGate(db).claim(lease), false);
    case 'guardedScript':
    case 'redisGate':
      return redis(place, kind);
    case 'fileGate':
      return files(place);
    default:
      return http(place);
  }
}
