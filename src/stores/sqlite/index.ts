// holdfast/stores/sqlite: the embedded store.
export { openSqlite, type SqliteOptions } from './open-sqlite.js';
export { restoreSqlite, type Restored } from './restore.js';
export { SqliteStore } from './sqlite-store.js';
