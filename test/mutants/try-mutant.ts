// Breaks a copy of this tree by one mutant and runs the tests that must notice (contract, section 12). The copy lies in a
// temporary folder and shares node_modules. A mutant is caught when a test fails; a run without a failed test, also one that
// came to no end, noticed nothing.
import { spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Mutant } from './mutants.js';

const COPIED = [
  'src',
  'test',
  'scripts',
  'examples',
  'docs',
  'package.json',
  'tsconfig.json',
  'vitest.config.ts',
  'dist',
];
const LONGEST_MS = 300_000;
/** Worlds of the simulation for each mutant: one that needs more is not caught. */
const SEEDS = '2000';

export interface Noticed {
  readonly test: string;
  /** How many worlds the simulation needed. */
  readonly worlds?: number | undefined;
  /** How many random programs were needed. */
  readonly programs?: number | undefined;
}

/** One line of the report: what became of a mutant. */
export interface MutantResult extends Pick<Mutant, 'name' | 'rule' | 'file'>, Partial<Noticed> {
  readonly caught: boolean;
  readonly seconds: number;
}

/** The text of the file with the mutant in it. */
export function mutated(text: string, { name, file, before, after }: Mutant): string {
  const places = text.split(before).length - 1;
  if (places !== 1) throw new Error(`the mutant "${name}" stands ${places} times in ${file}: say what it has become`);
  return text.replace(before, () => after);
}

export async function makeCopy(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'holdfast-mutants-'));
  for (const one of COPIED) await cp(resolve(one), join(copy, one), { recursive: true });
  await symlink(resolve('node_modules'), join(copy, 'node_modules'));
  return copy;
}

/** What noticed the mutant, or undefined when nothing did. */
export async function tryMutant(copy: string, mutant: Mutant): Promise<Noticed | undefined> {
  const path = join(copy, mutant.file);
  const text = await readFile(path, 'utf8');
  await writeFile(path, mutated(text, mutant));
  try {
    return whatNoticed(await runTests(copy, mutant.by));
  } finally {
    await writeFile(path, text);
  }
}

/** What fails in the copy as it is: a test that fails anyway notices nothing. */
export async function whatFailsAnyway(copy: string, files: readonly string[]): Promise<Noticed | undefined> {
  return whatNoticed(await runTests(copy, files));
}

function runTests(copy: string, files: readonly string[]): Promise<string> {
  const projects = ['unit', 'stores', 'conformance', 'outside'].flatMap((name) => ['--project', name]);
  const args = ['run', '--bail', '1', ...projects, ...files];
  const { VITEST: _vitest, VITEST_POOL_ID: _pool, VITEST_WORKER_ID: _worker, ...env } = process.env;
  const child = spawn(join(copy, 'node_modules/.bin/vitest'), args, {
    cwd: copy,
    env: { SEEDS, ...env, NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: LONGEST_MS,
  });
  let output = '';
  const keep = (piece: Buffer): void => {
    output += piece.toString();
  };
  child.stdout.on('data', keep);
  child.stderr.on('data', keep);
  return new Promise((done, fail) => {
    child.on('error', fail);
    child.on('close', () => done(output));
  });
}

/** The first test that failed, and the seed where a seed did. */
function whatNoticed(output: string): Noticed | undefined {
  const test = /^ FAIL +(?:\|?(?:unit|conformance)\|? +)?(.+)$/m.exec(output)?.[1];
  if (test === undefined) return undefined;
  const number = (pattern: RegExp): number | undefined => {
    const found = pattern.exec(output)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  const isSimulation = test.startsWith('test/simulation/');
  return {
    test,
    worlds: isSimulation ? number(/repeat it: SEED=(\d+)/) : undefined,
    programs: number(/disagree \(program (\d+) of SEED=/),
  };
}
