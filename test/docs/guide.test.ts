// The code of the guide: every js and ts block is checked against the types of the built package, all in one run of tsc.
// A block after `<!-- run -->` is run as well, and prints what the block after `<!-- prints -->` shows.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { afterAll, expect, test } from 'vitest';
import { withoutFigures } from '../support/figures.js';
import { blocksOf } from '../support/markdown-blocks.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const guide = join(root, 'docs', 'guide');
const pages = readdirSync(guide).filter((page) => page.endsWith('.md') && page !== 'writing-a-store.md');
const blocks = pages.flatMap((page) => blocksOf(page, readFileSync(join(guide, page), 'utf8')));
const folder = temporaryFolder();
afterAll(() => folder.remove());

/** What docs/guide/README.md says that is given. */
const given = `
import type { Holdfast, HeldLease } from 'holdfast';
declare global {
  const leases: Holdfast;
  const lease: HeldLease;
  function work(signal: AbortSignal): Promise<void>;
}
`;
const compilerOptions = {
  target: 'es2022',
  lib: ['es2023', 'esnext.disposable'],
  module: 'nodenext',
  moduleDetection: 'force',
  types: ['node'],
  strict: true,
  noImplicitAny: false,
  useUnknownInCatchVariables: false,
  exactOptionalPropertyTypes: true,
  allowJs: true,
  checkJs: true,
  noEmit: true,
};

/** A package that depends on the built one, as a user's does. */
function layOut(): void {
  const modules = join(folder.path, 'node_modules');
  mkdirSync(modules);
  symlinkSync(root, join(modules, 'holdfast'));
  for (const name of ['better-sqlite3', 'prom-client', '@types'])
    symlinkSync(join(root, 'node_modules', name), join(modules, name));
  writeFileSync(join(folder.path, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder.path, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.js', '*.ts'] }));
  writeFileSync(join(folder.path, 'given.d.ts'), given);
  for (const { name, code } of blocks) writeFileSync(join(folder.path, name), code);
  writeFileSync(join(folder.path, 'wrong.js'), 'await leases.acquire(42);\n');
}
layOut();

test('every block of the guide fits the types of the package', () => {
  const compiler = join(dirname(createRequire(import.meta.url).resolve('typescript/package.json')), 'bin', 'tsc');
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', '.'], { cwd: folder.path, encoding: 'utf8' });
  const complaints = stdout.split('\n').filter((line) => /^\S/.test(line));
  expect(complaints).toEqual([expect.stringContaining('wrong.js(1,22): error')]); // that one is there to be found
  expect(blocks.length).toBeGreaterThan(20);
});

test.each(blocks.filter(({ isRun }) => isRun))(
  '$name runs, and prints what the page says',
  ({ name, code, prints }) => {
    const { ESNext } = ts.ModuleKind;
    const options = { target: ts.ScriptTarget.ES2022, module: ESNext };
    const program = name.endsWith('.ts') ? ts.transpileModule(code, { compilerOptions: options }).outputText : code;
    writeFileSync(join(folder.path, `run-${name}.mjs`), program);
    const printed = execFileSync(process.execPath, [`run-${name}.mjs`], { cwd: folder.path, encoding: 'utf8' });
    expect(prints).toBeDefined();
    expect(withoutFigures(printed)).toBe(withoutFigures(prints ?? ''));
  },
);
