// make prove: histories, simulation, mutants and faults, one after the other, and docs/proof.md out of what they reported.
// PROVE_SHORT=1 tries it in minutes and writes to a temporary folder; PROVE_ONLY=mutants,faults runs some parts; with
// PROVE_RESULTS=folder their results are kept there, and those of parts that are not run are taken from there.
//
// One run at a time on a machine: timings, servers and the report want it to themselves. It is kept by a lease, of course.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connect } from '../dist/index.js';
import { isProven, proofText, verdictOf } from './proof-report.mjs';

const USAGE = 64;
const REFUSED = 75;
/** PROVE_ONLY=report: runs nothing, and writes the report of the results that were kept. */
const REPORT = 'report';
const root = fileURLToPath(new URL('..', import.meta.url));
const vitest = join(root, 'node_modules', '.bin', 'vitest');

const HISTORIES = [
  'test/checkers',
  'test/stores/linearizable.test.ts',
  ...['sqlite', 'postgres', 'redis', 'http'].map((store) => `test/stores/${store}-concurrent.test.ts`),
  ...['postgres', 'redis'].map((store) => `test/stores/${store}-sequences-concurrent.test.ts`),
  'test/stores/sequence-writers.test.ts',
];

/** Each: the arguments of vitest, what is set for it (long, short), and the variable that names its report. */
const PARTS = [
  { name: 'histories', args: ['--project', 'conformance', ...HISTORIES], report: 'HISTORIES_REPORT', isLines: true },
  {
    name: 'simulation',
    args: ['--project', 'conformance', 'test/simulation'],
    long: { SEEDS: '100000' },
    short: { SEEDS: '500' },
    report: 'SIMULATION_REPORT',
  },
  {
    name: 'mutants',
    args: ['--project', 'conformance', 'test/mutants'],
    long: { MUTANTS: 'all' },
    report: 'MUTANTS_REPORT',
  },
  {
    name: 'faults',
    args: ['--project', 'faults'],
    long: { LONG: '1' },
    short: { FAULTS_SECONDS: '20' },
    report: 'FAULTS_REPORT',
    isLines: true,
  },
];
const SERVERS = { postgres: 'postgres', redis: 'redis-server', pgbouncer: 'pgbouncer' };

function refuse(message, code = USAGE) {
  process.stderr.write(`prove: ${message}\n`);
  process.exit(code);
}

function chosenParts() {
  const asked = (process.env.PROVE_ONLY ?? '').split(',').filter((name) => name !== '');
  const names = PARTS.map(({ name }) => name);
  const unknown = asked.find((name) => name !== REPORT && !names.includes(name));
  if (unknown !== undefined) refuse(`PROVE_ONLY names ${JSON.stringify(unknown)}; the parts are ${names.join(', ')}`);
  return asked.length === 0 ? names : asked.filter((name) => name !== REPORT);
}

function checkSettings() {
  if (process.env.SEED)
    refuse('it draws fresh seeds, so it takes no SEED: repeat one with the command its report names');
  const skipped = (process.env.HOLDFAST_SKIP ?? '').split(',');
  const missing = Object.keys(SERVERS).filter((name) => !skipped.includes(name) && !pathOf(SERVERS[name]));
  if (missing.length === 0) return;
  refuse(`${missing.join(', ')} not found: run \`make setup\`, install them, or leave them out with HOLDFAST_SKIP`, 69);
}

function output(command, ...args) {
  const { stdout, status } = spawnSync(command, args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : '';
}

/** Debian keeps PostgreSQL's programs apart. */
function pathOf(program) {
  return output('/bin/sh', '-c', `command -v ${program} || ls /usr/lib/postgresql/*/bin/${program} | tail -1`);
}

function commit() {
  const isChanged = output('git', 'status', '--porcelain', '--untracked-files=no') !== '';
  const head = output('git', 'rev-parse', '--short=12', 'HEAD') || 'unknown';
  return isChanged ? `${head}, with changes that are not committed` : head;
}

function machine() {
  const [first] = cpus();
  const version = (name) => JSON.parse(readFileSync(join(root, 'node_modules', name, 'package.json'), 'utf8')).version;
  const ofServer = (name) => output(pathOf(SERVERS[name]) || 'false', '--version').split('\n')[0] || 'not there';
  return {
    when: new Date().toISOString(),
    commit: commit(),
    machine: `${cpus().length} × ${first?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}`,
    'load when it began': loadavg()[0]?.toFixed(1),
    Node: process.version,
    PostgreSQL: ofServer('postgres'),
    Redis: ofServer('redis'),
    PgBouncer: ofServer('pgbouncer'),
    drivers: ['better-sqlite3', 'pg', 'redis', 'ioredis'].map((name) => `${name} ${version(name)}`).join(', '),
    'left out': process.env.HOLDFAST_SKIP || 'nothing',
  };
}

async function runPart({ name, args, long = {}, short = {}, report, isLines }, folder, isShort, signal) {
  const set = isShort ? short : long;
  const files = { json: join(folder, `${name}.vitest.json`), report: join(folder, `${name}.report.json`) };
  writeFileSync(files.report, '');
  const full = ['run', ...args, '--reporter=default', '--reporter=json', `--outputFile.json=${files.json}`];
  const env = { ...process.env, ...set, [report]: files.report, NO_COLOR: '1' };
  const began = performance.now();
  const child = spawn(vitest, full, { cwd: root, env, stdio: ['ignore', 'inherit', 'inherit'], signal });
  const exit = await new Promise((done) => {
    child.on('error', () => done(1));
    child.on('close', (code) => done(code ?? 1));
  });
  const command = [...Object.entries(set).map(([key, value]) => `${key}=${value}`), 'vitest run', ...args].join(' ');
  const seconds = Math.round((performance.now() - began) / 1000);
  return {
    name,
    command,
    commit: commit(), // results that are kept may be older than the report
    seconds,
    exit,
    needsReport: true,
    ...testsIn(files.json),
    report: reportIn(files.report, isLines),
  };
}

/** What vitest says: every test with its time, and the first line of each failure. */
function testsIn(path) {
  if (!existsSync(path))
    return {
      tests: { passed: 0, failed: 1, skipped: 0 },
      titles: [],
      failures: [{ title: 'vitest', message: 'it came to no end' }],
    };
  const found = JSON.parse(readFileSync(path, 'utf8')).testResults.flatMap((file) => file.assertionResults);
  const count = (...statuses) => found.filter(({ status }) => statuses.includes(status)).length;
  const titles = found.map(({ fullName, status, duration }) => ({
    title: fullName,
    status,
    seconds: Math.round((duration ?? 0) / 100) / 10,
  }));
  const failed = found.filter(({ status }) => status === 'failed');
  const failures = failed.map(({ fullName, failureMessages: [message = ''] }) => ({ title: fullName, message }));
  return {
    tests: { passed: count('passed'), failed: failed.length, skipped: count('skipped', 'pending', 'todo') },
    titles,
    failures,
  };
}

function reportIn(path, isLines) {
  const text = readFileSync(path, 'utf8').trim();
  if (text === '') return undefined;
  return isLines ? text.split('\n').map((line) => JSON.parse(line)) : JSON.parse(text);
}

async function hold() {
  const leases = await connect(`sqlite:${join(tmpdir(), 'holdfast-prove.db')}`, { services: 'off' });
  const metadata = { pid: process.pid, since: new Date().toISOString() };
  const taken = await leases.tryAcquire('prove', { metadata });
  if (taken.ok) return { leases, lease: taken.lease };
  const [holder] = taken.refusal.holders;
  await leases.shutdown();
  const { pid, since } = holder?.metadata ?? {};
  return refuse(
    `another run has this machine (process ${pid}, since ${since}): wait for it, or end that process`,
    REFUSED,
  );
}

function resultsFolder() {
  const given = process.env.PROVE_RESULTS;
  if (!given) return mkdtempSync(join(tmpdir(), 'holdfast-proof-'));
  mkdirSync(given, { recursive: true });
  return given;
}

/** Those that ran now, and of the others what a run before left in the folder. */
function gathered(folder) {
  return PARTS.map(({ name }) => {
    const path = join(folder, `${name}.json`);
    if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8'));
    return { name, command: '', isMissing: true, failures: [], titles: [] };
  });
}

const chosen = chosenParts();
checkSettings();
const isShort = Boolean(process.env.PROVE_SHORT);
const { leases, lease } = await hold();
try {
  const folder = resultsFolder();
  const about = machine();
  for (const part of PARTS.filter(({ name }) => chosen.includes(name))) {
    process.stdout.write(`\nprove: ${part.name}\n`);
    // Kept at once: a run that is interrupted can go on with the parts that are left.
    const result = await runPart(part, folder, isShort, lease.signal);
    writeFileSync(join(folder, `${part.name}.json`), JSON.stringify(result));
  }
  const parts = gathered(folder);
  const only = process.env.PROVE_ONLY ? `PROVE_ONLY=${process.env.PROVE_ONLY} ` : '';
  const command = `${isShort ? 'PROVE_SHORT=1 ' : ''}${only}make prove`;
  const target = process.env.PROOF_FILE || (isShort ? join(folder, 'proof.md') : join(root, 'docs', 'proof.md'));
  writeFileSync(target, proofText({ machine: about, command, isShort, parts }));
  for (const part of parts) process.stdout.write(`prove: ${part.name}: ${verdictOf(part)}\n`);
  process.stdout.write(`prove: the report is ${target}, the results are in ${folder}\n`);
  process.exitCode = isProven(parts) ? 0 : 1;
} finally {
  await leases.shutdown();
}
