// Who may import whom: the table of ARCHITECTURE.md as data, and the function that holds a tree against it. Type-only
// imports count too. Tests beside their file are free; what ships is not.

import { builtinModules } from 'node:module';
import { posix } from 'node:path';
import { isTest, type SourceTree } from './tree.js';
import { importsOf } from './syntax.js';

interface ImportRule {
  /** A folder or file below src; `stores/*` stands for each folder of a store. The most exact rule wins. */
  readonly where: string;
  /** Folders or files below src. A file may always import from its own folder, unless the rule is for that one file. */
  readonly mayImport: readonly string[];
  /** npm packages; none unless named. */
  readonly packages?: readonly string[];
  /** `node:` modules are free unless this is false. */
  readonly builtins?: false;
}

const core = ['domain', 'stores/store.ts', 'stores/sequence-store.ts', 'stores/store-health.ts'];
const wiring = ['connect.ts', 'holdfast.ts', 'index.ts', ...core, 'observe', 'doctor'];

const importRules: readonly ImportRule[] = [
  { where: 'domain', mayImport: [], builtins: false },

  {
    where: 'stores/store.ts',
    mayImport: ['domain', 'stores/sequence-store.ts', 'stores/store-health.ts'],
    builtins: false,
  },
  { where: 'stores/store-health.ts', mayImport: [], builtins: false },
  { where: 'stores/sequence-store.ts', mayImport: ['domain', 'stores/store.ts'], builtins: false },
  { where: 'stores/lane.ts', mayImport: core },
  { where: 'stores/batching.ts', mayImport: [...core, 'stores/lane.ts'] },
  { where: 'stores/open-store.ts', mayImport: [...core, 'stores/batching.ts', 'stores/*'] },
  { where: 'stores/scratch-store.ts', mayImport: [...core, 'stores/*', 'stores/open-store.ts'] },
  { where: 'stores/*', mayImport: [...core, 'stores/batching.ts'] },
  { where: 'stores/protocol', mayImport: core, builtins: false },
  { where: 'stores/memory', mayImport: [...core, 'stores/batching.ts', 'stores/protocol'] },
  {
    where: 'stores/sqlite',
    mayImport: [...core, 'stores/batching.ts', 'stores/protocol'],
    packages: ['better-sqlite3'],
  },
  { where: 'stores/postgres', mayImport: [...core, 'stores/batching.ts', 'stores/protocol'], packages: ['pg'] },
  {
    where: 'stores/redis',
    mayImport: [...core, 'stores/batching.ts', 'stores/protocol'],
    packages: ['redis', 'ioredis'],
  },

  { where: 'manager', mayImport: [...core, 'stores/batching.ts'] },
  { where: 'sequence', mayImport: [...core, 'stores/lane.ts', 'manager'] },
  { where: 'files', mayImport: [...core, 'manager'] },
  { where: 'guards', mayImport: [...core, 'manager', 'system-clock.ts'], packages: ['better-sqlite3'] },
  { where: 'observe', mayImport: ['domain'], packages: ['pino', 'prom-client', '@opentelemetry/api'] },
  { where: 'services', mayImport: [...core, 'manager', 'sequence', 'observe'] },

  { where: 'doctor', mayImport: [...core, 'manager/store-link.ts'], builtins: false },

  {
    where: 'server',
    mayImport: [...wiring, 'manager', 'sequence', 'services', 'doctor', 'stores/open-store.ts', 'system-clock.ts'],
    packages: ['hono', '@hono/node-server', '@hono/zod-openapi', 'zod'],
  },
  {
    where: 'cli',
    mayImport: [...wiring, 'server', 'stores/open-store.ts', 'stores/scratch-store.ts', 'system-clock.ts'],
    packages: ['commander'],
  },
  {
    where: 'testing',
    mayImport: [...core, 'stores/batching.ts', 'stores/memory', 'services/service.ts'],
    packages: ['fast-check'],
  },

  { where: 'system-clock.ts', mayImport: ['domain', 'system-timers.ts'] },
  { where: 'system-timers.ts', mayImport: ['domain'] },
  {
    where: 'holdfast.ts',
    mayImport: [...core, 'stores/batching.ts', 'manager', 'sequence', 'files', 'guards', 'services', 'observe'],
  },
  { where: 'connect-options.ts', mayImport: ['domain', 'manager', 'stores/open-store.ts'] },
  {
    where: 'connect.ts',
    mayImport: [
      ...core,
      'connect-options.ts',
      'stores/open-store.ts',
      'stores/batching.ts',
      'stores/*',
      'holdfast.ts',
      'system-clock.ts',
      'manager',
      'sequence',
      'files',
      'guards',
      'services',
      'observe',
    ],
  },
  {
    where: 'index.ts',
    mayImport: [
      ...core,
      'stores/batching.ts',
      'connect.ts',
      'holdfast.ts',
      'system-clock.ts',
      'manager',
      'sequence',
      'files',
      'services',
      'observe',
    ],
  },
];

/** Sentences, one for each import the table does not allow. Keys are paths that start with `src/`. */
export function forbiddenImports(files: SourceTree): string[] {
  const complaints: string[] = [];
  for (const [path, source] of files) {
    if (isTest(path)) continue;
    const place = path.replace(/^src\//, '');
    const rule = ruleFor(place);
    if (rule === undefined) complaints.push(`${path}: its folder has no rule in test/tidy/import-rules.ts`);
    else {
      for (const name of importsOf(path, source)) {
        if (!allowed(rule, place, name)) complaints.push(`${path}: may not import ${name}`);
      }
    }
  }
  return complaints;
}

function ruleFor(place: string): ImportRule | undefined {
  const exactness = (rule: ImportRule): number => rule.where.length - (rule.where.endsWith('*') ? 1 : 0);
  return importRules
    .filter((rule) => covers(rule.where, place))
    .toSorted(
      (a, b) => exactness(b) - exactness(a) || Number(a.where.endsWith('*')) - Number(b.where.endsWith('*')),
    )[0];
}

/** Is the file `place` the entry itself, or inside it? A star stands for one folder. */
function covers(entry: string, place: string): boolean {
  if (entry.endsWith('.ts')) return entry === place;
  if (entry.endsWith('/*')) return place.startsWith(entry.slice(0, -1)) && place.split('/').length > 2;
  return place.startsWith(`${entry}/`);
}

function allowed(rule: ImportRule, place: string, name: string): boolean {
  if (name.startsWith('.')) {
    const target = posix.join(posix.dirname(place), name).replace(/\.js$/, '.ts');
    if (rule.mayImport.some((entry) => covers(entry, target))) return true;
    return !rule.where.endsWith('.ts') && covers(ownFolder(rule, place), target);
  }
  if (name.startsWith('node:')) return rule.builtins !== false;
  if (builtinModules.includes(name)) return false; // a builtin is written with its prefix
  return (rule.packages ?? []).some((allowedName) => name === allowedName || name.startsWith(`${allowedName}/`));
}

function ownFolder(rule: ImportRule, place: string): string {
  return rule.where.endsWith('/*') ? place.split('/').slice(0, 2).join('/') : rule.where;
}
