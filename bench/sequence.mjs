// Streams on every store that keeps them: each against bare statements of its own driver in the same run, and with sixteen
// writers that are killed.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sequenceCrowd } from './sequence-crowd.mjs';
import { benchSequencePostgres } from './sequence-postgres.mjs';
import { benchSequenceRedis } from './sequence-redis.mjs';
import { benchSequenceSqlite } from './sequence-sqlite.mjs';
import { startPostgres, startRedis } from './servers.mjs';

const STORES = [
  { kind: 'SQLite', start: temporaryFile, bench: benchSequenceSqlite },
  { kind: 'PostgreSQL', start: startPostgres, bench: benchSequencePostgres },
  {
    kind: 'Redis',
    start: () => startRedis({ appendonly: 'yes', appendfsync: 'always' }),
    bench: benchSequenceRedis,
  },
];

export async function benchSequence(say) {
  const rows = [];
  for (const { kind, start, bench } of STORES) {
    rows.push(...(await bench(say)));
    const place = await start();
    try {
      rows.push(await sequenceCrowd(say, kind, place.url));
    } finally {
      await place.remove();
    }
  }
  return rows;
}

async function temporaryFile() {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  return {
    url: `sqlite:${join(folder, 'streams.db')}`,
    remove: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
