// bench/results.json: an array of rows, each with the run that made it (suite, command, commit, date, machine, versions), so that
// suites can be run one at a time and a figure never stands beside the wrong machine. A suite's rows replace its older ones in
// one step, under a lock on the folder, so that two runs at once lose nothing of each other.
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, totalmem, type } from 'node:os';
import { fileURLToPath } from 'node:url';
import { runOf } from './document.mjs';
import { isShort } from './scale.mjs';
import { find } from './servers.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));

/** What was tried out lies in a file of its own, which nobody quotes. */
export const resultsFile = here(isShort ? 'results-short.json' : 'results.json');

export function readResults(path = resultsFile) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error.code === 'ENOENT') return [];
    throw new Error(`${path} cannot be read (${error.message}): remove it and run the benchmarks again`, {
      cause: error,
    });
  }
}

/** Everything a reader needs to repeat it. */
export function describeRun(suite, { packages, servers }) {
  const versions = Object.fromEntries([
    ...packages.map((name) => [name, packageVersion(name)]),
    ...servers.map((name) => [name, serverVersion(name)]),
  ]);
  return {
    suite,
    command: `make bench ONLY=${suite}`,
    date: new Date().toISOString(),
    commit: commit(),
    isShort,
    machine: machine(),
    load: Number(loadavg()[0].toFixed(2)),
    versions,
  };
}

/** The rows of one suite in the place of its older ones. */
export function keepResults(run, rows) {
  const order = { path: resultsFile, suite: run.suite, rows: rows.map((row) => ({ ...row, run })) };
  const merge = [process.execPath, fileURLToPath(import.meta.url)];
  const done = spawnSync('flock', [here('.'), ...merge], { input: JSON.stringify(order), encoding: 'utf8' });
  if (done.status !== 0) throw new Error(`the results were not kept: ${done.stderr}${done.error?.message ?? ''}`);
}

/** One row a line; suites in the order of their names. */
export function resultsText(rows) {
  return rows.length === 0 ? '[]\n' : `[\n${rows.map((row) => JSON.stringify(row)).join(',\n')}\n]\n`;
}

function merge({ path, suite, rows }) {
  const others = readResults(path).filter((row) => runOf(row).suite !== suite);
  const all = [...others, ...rows].sort((a, b) => runOf(a).suite.localeCompare(runOf(b).suite));
  const fresh = `${path}.${process.pid}.tmp`;
  writeFileSync(fresh, resultsText(all));
  renameSync(fresh, path);
}

function machine() {
  const [{ model }] = cpus();
  const memory = Math.round(totalmem() / 2 ** 30);
  return `${cpus().length} cores (${model.trim()}), ${memory} GiB, ${type()} ${release()}, Node ${process.version}`;
}

function packageVersion(name) {
  return JSON.parse(readFileSync(here(`../node_modules/${name}/package.json`), 'utf8')).version;
}

function serverVersion(name) {
  return /\d+(\.\d+)+/.exec(execFileSync(find(name), ['--version'], { encoding: 'utf8' }))?.[0] ?? 'unknown';
}

function commit() {
  const git = (...args) => spawnSync('git', args, { cwd: here('..'), encoding: 'utf8' });
  const { status, stdout } = git('rev-parse', '--short=12', 'HEAD');
  if (status !== 0) return 'unknown (not a git checkout)';
  const isChanged = git('status', '--porcelain', '--', 'src', 'bench/*.mjs', 'bench/public').stdout !== '';
  return stdout.trim() + (isChanged ? ' and changes that are not committed' : '');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) merge(JSON.parse(readFileSync(0, 'utf8')));
