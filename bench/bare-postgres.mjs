// A lock table by hand in PostgreSQL: two prepared statements, an upsert that takes a name unless somebody holds it and an
// update that lets it go, each its own transaction, over a pool. No history, no queue, no ids, no epochs.
import pg from 'pg';

const OWNER = 'bench-1-abcdef';
const TAKE = `INSERT INTO bare (name, owner, expires_at) VALUES ($1, $2, clock_timestamp() + $3 * interval '1 millisecond')
  ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires_at = excluded.expires_at
  WHERE bare.expires_at <= clock_timestamp()`;
const FREE = "UPDATE bare SET expires_at = '-infinity' WHERE name = $1 AND owner = $2";

export async function openBarePostgres(url, poolSize) {
  const pool = new pg.Pool({ connectionString: url, max: poolSize });
  await pool.query(
    'CREATE TABLE IF NOT EXISTS bare (name text PRIMARY KEY, owner text NOT NULL, expires_at timestamptz NOT NULL)',
  );
  return {
    name: 'bare upsert + update',
    pair: async (i) => {
      const name = `bench/${i % 1_000}`;
      const taken = await pool.query({ name: 'take', text: TAKE, values: [name, OWNER, 30_000] });
      if (taken.rowCount !== 1) throw new Error(`${name} is taken`);
      const freed = await pool.query({ name: 'free', text: FREE, values: [name, OWNER] });
      if (freed.rowCount !== 1) throw new Error(`${name} was not held`);
    },
    close: () => pool.end(),
  };
}
