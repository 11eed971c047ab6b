// The runbooks of the doctor: every command in their blocks is run as it stands there, in order, in a world where it has
// something to do: `sh` blocks over a SQLite file with real holders, `sh redis` and `sh postgres` blocks over such servers. The
// commands that show that it worked have to say so. And every page the doctor names is there, with every section.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MAIN } from '../support/command-site.js';
import { startPostgres } from '../support/servers/postgres-server.js';
import { startRedis } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';
import { StepClock } from '../support/servers/step-clock.js';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');
const PAGES = [
  'restart-a-holder',
  'fix-clock-skew',
  'down-to-one',
  'store-unavailable',
  'resource-pressure',
  'wal-and-disk',
];
const SECTIONS = ['What you see', 'What not to run', 'What to run', 'How to know it worked'];

interface Line {
  readonly store: string;
  readonly command: string;
  /** It stands where the page says how to know that it worked. */
  readonly isProof: boolean;
}

function linesOf(page: string): Line[] {
  const [, proof = ''] = page.split(`## ${SECTIONS[3] ?? ''}`);
  return [...page.matchAll(/^```sh ?(\w*)\n(.*?)^```$/gms)].flatMap(([block, store = '', text = '']) =>
    text
      .trim()
      .split('\n')
      .map((command) => ({ store: store === '' ? 'sqlite' : store, command, isProof: proof.includes(block) })),
  );
}

describe.each(PAGES)('C9: docs/runbooks/%s.md', (name) => {
  const page = read(`docs/runbooks/${name}.md`);
  const lines = linesOf(page);
  let folder: TemporaryFolder;
  let env: NodeJS.ProcessEnv;
  let children: ChildProcess[];
  const servers = new Map<string, { readonly url: string; remove(): Promise<void> }>();

  /** A holder as the pages have them: `holdfast run`, its process id in a file. */
  async function holder(owner: string, file: string, options: NodeJS.ProcessEnv = {}): Promise<void> {
    const args = ['run', 'orders/0', '--owner', owner, '--ttl', '2s', '--wait', 'forever', '--', 'sleep', '600'];
    const child = spawn(process.execPath, [MAIN, ...args], {
      cwd: folder.path,
      env: { ...env, ...options },
      stdio: 'ignore',
    });
    children.push(child);
    writeFileSync(join(folder.path, file), `${child.pid ?? 0}\n`);
    const count = children.length;
    const isThere = (): boolean =>
      (sh('holdfast ls --status all --json').stdout.match(/"id":/g)?.length ?? 0) === count;
    while (!isThere());
  }
  function sh(command: string): ReturnType<typeof spawnSync> & { stdout: string; stderr: string } {
    return spawnSync('bash', ['-c', command], { cwd: folder.path, env, encoding: 'utf8' });
  }
  function program(file: string, text: string): void {
    writeFileSync(join(folder.path, 'bin', file), `#!/bin/sh\n${text}\n`);
    chmodSync(join(folder.path, 'bin', file), 0o755);
  }

  beforeAll(async () => {
    folder = temporaryFolder();
    children = [];
    mkdirSync(join(folder.path, 'bin'));
    program('holdfast', `exec '${process.execPath}' '${MAIN}' "$@"`);
    const path = `${join(folder.path, 'bin')}:${process.env['PATH'] ?? ''}`;
    const sqlite = `sqlite:${join(folder.path, 'leases.db')}`;
    env = { PATH: path, HOME: folder.path, HOLDFAST_STORE: sqlite };
    const wanted = new Set(lines.map(({ store }) => store));
    if (wanted.has('redis') && !isSkipped('redis')) servers.set('redis', await startRedis());
    if (wanted.has('postgres') && !isSkipped('postgres')) servers.set('postgres', await startPostgres());
    for (const { url } of servers.values()) {
      env = { ...env, HOLDFAST_STORE: url };
      expect(sh('holdfast migrate').status).toBe(0);
    }
    if (name === 'fix-clock-skew') {
      const clock = new StepClock(folder.path);
      clock.step(9_000);
      const { STEP_CLOCK_FILE: file = '' } = clock.env();
      program('chronyc', `[ "$1" != makestep ] || dd if=/dev/zero of='${file}' bs=8 count=1 conv=notrunc 2> /dev/null`);
      await holder('web1', 'web1.pid', clock.env());
      return;
    }
    env = { ...env, HOLDFAST_STORE: sqlite };
    await holder('web1', 'web1.pid');
    if (name === 'resource-pressure') {
      expect(sh('holdfast acquire gone --owner late --ttl 100ms').status).toBe(0);
      while (!sh('holdfast sweep').stdout.startsWith('1 expired'));
    }
    if (name === 'down-to-one') await holder('web1', 'twin.pid');
    if (name === 'restart-a-holder') for (const owner of ['web2', 'web3']) await holder(owner, `${owner}.pid`);
  });
  afterAll(async () => {
    for (const child of children) {
      if (child.exitCode !== null || child.signalCode !== null) continue;
      child.kill('SIGTERM');
      await once(child, 'exit');
    }
    for (const server of servers.values()) await server.remove();
    folder.remove();
  });

  test('it says how bad, where, what it does to you; and every section', () => {
    for (const row of ['severity', 'component', 'impact']) expect(page).toMatch(new RegExp(`^\\| ${row} \\| \\S`, 'm'));
    expect([...page.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual(SECTIONS);
    expect(lines.length).toBeGreaterThan(3);
    expect(lines.some(({ isProof, command }) => isProof && command.startsWith('holdfast doctor'))).toBe(true);
  });

  test.each(lines)('$store: $command', ({ store, command, isProof }) => {
    if (store !== 'sqlite' && !servers.has(store)) return; // HOLDFAST_SKIP, said above
    const url = servers.get(store)?.url;
    if (url !== undefined) env = { ...env, HOLDFAST_STORE: url };
    else env = { ...env, HOLDFAST_STORE: `sqlite:${join(folder.path, 'leases.db')}` };
    const { status, stdout, stderr } = sh(command);
    const isFinding = command.startsWith('holdfast doctor') && !isProof && status === 1; // it found something: its work
    expect([isFinding ? 0 : status, stderr], stdout).toEqual([0, '']);
  });

  test('what it was about is over', () => {
    const { stdout } = sh('holdfast ls --status all --json');
    const owners = (JSON.parse(stdout) as { items: { owner: string }[] }).items.map(({ owner }) => owner);
    const left = name === 'restart-a-holder' ? ['web3'] : ['web1'];
    expect(owners).toEqual(left);
  });
});

test('C9: every page the doctor names is there, and the list of runbooks has every one', () => {
  const named = [...read('src/doctor/finding.ts').matchAll(/'(docs\/[\w/-]+\.md)'/g)].map(([, path = '']) => path);
  const more = [...read('src/doctor/checks/store-health.ts').matchAll(/'(docs\/[\w/-]+\.md)'/g)].map(
    ([, path = '']) => path,
  );
  expect(named.length).toBeGreaterThan(10);
  for (const path of [...named, ...more]) expect(existsSync(join(root, path)), path).toBe(true);
  const list = read('docs/runbooks/README.md');
  for (const page of readdirSync(join(root, 'docs/runbooks')))
    if (page !== 'README.md') expect(list).toContain(`(${page})`);
});
