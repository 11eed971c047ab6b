// The schema: made and brought up to date by whoever comes first, in one transaction under an advisory lock (O4). What may run
// beside what: docs/decisions/0010.
import { LeaseError } from '../../domain/errors.js';
import type { PostgresLink, Query } from './link.js';
import { inSchema, quoteName } from './quote.js';
import { checksumOf, CODE_VERSION, MIGRATIONS, type Migration } from './schema/migrations.js';

interface Applied {
  readonly name: string;
  readonly checksum: string;
  readonly oldest_code: number;
}

export interface Migrated {
  /** Everything the schema has, in order. */
  readonly applied: readonly string[];
  readonly pending: readonly string[];
}

/** Applies what is missing, or with `dryRun` says what that would be. `known` is what this program knows of. */
export async function migrate(
  link: PostgresLink,
  schema: string,
  { dryRun, known = MIGRATIONS }: { readonly dryRun: boolean; readonly known?: readonly Migration[] },
): Promise<Migrated> {
  const before = await appliedIn(link.query, schema);
  const missing = pendingAmong(before, schema, known);
  const applied = before.map(({ name }) => name);
  if (missing.length === 0 || dryRun) return { applied, pending: missing.map(({ name }) => name) };
  return link.transaction(async (query) => {
    await query({ name: 'hf_migrate_lock', text: 'SELECT pg_advisory_xact_lock(hashtextextended($1, 7423))' }, [
      schema,
    ]);
    await makeSchema(query, schema);
    const now = await appliedIn(query, schema);
    const pending = pendingAmong(now, schema, known);
    for (const one of pending) await apply(query, schema, one);
    return { applied: [...now, ...pending].map(({ name }) => name), pending: [] };
  });
}

async function makeSchema(query: Query, schema: string): Promise<void> {
  const found = await query({ name: 'hf_has_schema', text: 'SELECT 1 FROM pg_namespace WHERE nspname = $1' }, [schema]);
  if (found.length === 0) await query({ name: 'hf_make_schema', text: `CREATE SCHEMA ${quoteName(schema)}` }, []);
  const table = `${quoteName(schema)}.migration`;
  const text = `CREATE TABLE IF NOT EXISTS ${table} (name text PRIMARY KEY, checksum text NOT NULL,
    oldest_code integer NOT NULL, applied_at timestamptz NOT NULL DEFAULT clock_timestamp());
    GRANT SELECT ON ${table} TO PUBLIC`;
  if ((await tableOf(query, schema)) === undefined) await query({ name: 'hf_make_migration', text }, []);
}

async function apply(query: Query, schema: string, migration: Migration): Promise<void> {
  await query({ name: `hf_apply`, text: inSchema(migration.text, schema) }, []);
  const text = `INSERT INTO ${quoteName(schema)}.migration (name, checksum, oldest_code) VALUES ($1, $2, $3)`;
  await query({ name: 'hf_applied', text }, [migration.name, checksumOf(migration), migration.oldestCode]);
}

/** The list in the schema, or undefined where there is none yet. */
async function tableOf(query: Query, schema: string): Promise<string | undefined> {
  const text = `SELECT c.oid FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE n.nspname = $1 AND c.relname = 'migration' AND c.relkind = 'r'`;
  const [row] = await query({ name: 'hf_has_migration', text }, [schema]);
  return row === undefined ? undefined : String(row['oid']);
}

async function appliedIn(query: Query, schema: string): Promise<readonly Applied[]> {
  if ((await tableOf(query, schema)) === undefined) return [];
  const text = `SELECT name, checksum, oldest_code::int FROM ${quoteName(schema)}.migration ORDER BY name`;
  return (await query({ name: 'hf_migrations', text }, [])) as unknown as readonly Applied[];
}

/** What is missing; refuses a schema that this program must not run beside. */
function pendingAmong(applied: readonly Applied[], schema: string, known: readonly Migration[]): readonly Migration[] {
  const there = new Map(applied.map((one) => [one.name, one]));
  for (const migration of known) {
    const found = there.get(migration.name);
    if (found !== undefined && found.checksum !== checksumOf(migration)) {
      throw incompatible(schema, `its migration ${migration.name} is not the one this program knows`);
    }
  }
  const names = new Set(known.map(({ name }) => name));
  const breaking = applied.find((one) => !names.has(one.name) && one.oldest_code > CODE_VERSION);
  if (breaking) {
    throw incompatible(
      schema,
      `it has the migration ${breaking.name}, which needs version ${breaking.oldest_code} of the store or newer, and this is ${CODE_VERSION}`,
    );
  }
  return known.filter(({ name }) => !there.has(name));
}

function incompatible(schema: string, why: string): LeaseError {
  const message = `the schema ${schema} cannot be used: ${why}. Upgrade this program, or name another schema`;
  return new LeaseError('STORE_INCOMPATIBLE', message, { details: { schema } });
}

/** For `migrate: 'check'` and for looking: a schema that is not up to date is refused as it is. */
export async function checkMigrated(link: PostgresLink, schema: string, isMissingFine: boolean): Promise<Migrated> {
  const migrated = await migrate(link, schema, { dryRun: true });
  if (migrated.pending.length === 0) return migrated;
  if (migrated.applied.length === 0 && isMissingFine) {
    throw new LeaseError(
      'STORE_UNAVAILABLE',
      `there is no store in the schema ${schema} yet: \`holdfast migrate\` makes it`,
      { details: { schema, missing: true }, retryable: false },
    );
  }
  throw new LeaseError(
    'STORE_INCOMPATIBLE',
    `the schema ${schema} lacks ${migrated.pending.join(', ')}: run \`holdfast migrate\` first`,
    { details: { schema, pending: migrated.pending } },
  );
}
