// Writes dist/ from src/ and dashboard/: compiles to a folder of its own, copies what is not TypeScript (SQL files, for
// instance), bundles the command and the page, and only then puts it in the place of the old dist/. A failed build therefore
// leaves the last good one standing.

import { spawnSync } from 'node:child_process';
import { chmodSync, cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { buildPage } from './build-page.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const source = join(root, 'src');
const target = join(root, 'dist');
const fresh = join(root, `dist.${process.pid}.tmp`);
const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');

function assetsOf(folder) {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
    .map((entry) => join(entry.parentPath, entry.name));
}

/** The command as a few files instead of a hundred and twenty: reading them one by one was most of its start-up. What is
 *  loaded on demand stays a file of its own. */
async function bundleCommand(folder) {
  const input = { main: join(folder, 'main.js'), guardian: join(folder, 'run', 'guardian.js') };
  const bundle = await rolldown({
    input,
    platform: 'node',
    preserveEntrySignatures: 'allow-extension', // nobody imports the command
    external: [
      /^node:/,
      /^(better-sqlite3|commander|hono|ioredis|pg|prom-client|redis|zod|@hono|@opentelemetry)(\/|$)/,
    ],
  });
  const files = `${folder}.bundle`;
  // What every command but --help needs of the domain is one file: with many commands it would fall into a dozen crumbs. (The
  // heap is the clock's too, which --help needs.)
  const domain = { name: 'domain', test: /[\\/]domain[\\/](?!errors\.|escape\.|moment-heap\.)/ };
  await bundle.write({
    dir: files,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
    codeSplitting: { includeDependenciesRecursively: false, groups: [domain] },
  });
  await bundle.close();
  rmSync(folder, { recursive: true });
  renameSync(files, folder);
  chmodSync(join(folder, 'main.js'), 0o755); // package.json names it as the command
}

try {
  const compiled = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.build.json', '--outDir', fresh], {
    cwd: root,
    stdio: 'inherit',
  });
  if (compiled.status !== 0) {
    process.exitCode = compiled.status ?? 1;
  } else {
    for (const asset of assetsOf(source)) cpSync(asset, join(fresh, relative(source, asset)));
    await bundleCommand(join(fresh, 'cli'));
    await buildPage(join(fresh, 'dashboard'));
    const old = `${fresh}.old`;
    if (existsSync(target)) renameSync(target, old);
    renameSync(fresh, target);
    rmSync(old, { recursive: true, force: true });
  }
} finally {
  rmSync(fresh, { recursive: true, force: true });
}
