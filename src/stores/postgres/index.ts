// holdfast/stores/postgres: leases in PostgreSQL.
export { openPostgres, type PostgresOptions } from './open-postgres.js';
