// @verrou/core on SQLite through knex, with the same journal mode and synchronous setting as ours.
import { Verrou } from '@verrou/core';
import { knexStore } from '@verrou/core/drivers/knex';
import knex from 'knex';

export async function openVerrou(path) {
  const connection = knex({ client: 'better-sqlite3', connection: { filename: path }, useNullAsDefault: true });
  await connection.raw('PRAGMA journal_mode = WAL');
  await connection.raw('PRAGMA synchronous = NORMAL');
  const store = knexStore({ connection, tableName: 'verrou', autoCreateTable: true });
  const verrou = new Verrou({ default: 'sqlite', stores: { sqlite: { driver: store } } });
  return {
    close: () => connection.destroy(),
    pair: async (i) => {
      const lock = verrou.createLock(`bench/${i}`, '30s');
      if (!(await lock.acquireImmediately())) throw new Error(`bench/${i} is taken`);
      await lock.release();
    },
  };
}
