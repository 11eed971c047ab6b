// Every command of docs/guide/cron-and-deploy.md, run as it stands there: in one folder, with one store, by one shell.
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, expect, test } from 'vitest';
import { follow } from '../support/run-site.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const root = new URL('../../', import.meta.url);
const page = readFileSync(new URL('docs/guide/cron-and-deploy.md', root), 'utf8');
const commands = [...page.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text = '']) => text.trim());
const folder = temporaryFolder();
afterAll(() => folder.remove());
const env = { ...process.env, USER: 'alice', PATH: `${join(folder.path, 'bin')}:${process.env['PATH'] ?? ''}` };

function program(name: string, text: string): void {
  writeFileSync(join(folder.path, name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder.path, name), 0o755);
}
mkdirSync(join(folder.path, 'bin'));
program('bin/holdfast', `exec '${process.execPath}' '${fileURLToPath(new URL('dist/cli/main.js', root))}' "$@"`);
program('nightly-report', 'echo reported');
program('hourly-import', 'echo imported');
program('deploy', 'echo "deployed $* by $HOLDFAST_OWNER"');
program('scheduler', 'echo "schedules $HOLDFAST_RESOURCE"; while :; do sleep 0.05; done');

const [setStore = '', ...rest] = commands;
const store = setStore.replace(/sqlite:\S+/, `sqlite:${join(folder.path, 'leases.db')}`);
const shell = (command: string): { code: number | null; out: string; err: string } => {
  const line = `${store}\n${command}`;
  const { status, stdout, stderr } = spawnSync('sh', ['-c', line], { cwd: folder.path, env, encoding: 'utf8' });
  return { code: status, out: stdout, err: stderr };
};

test('the page begins with the store', () => {
  expect(setStore).toMatch(/^export HOLDFAST_STORE=sqlite:/);
  expect(rest).toHaveLength(8);
});

const prints: [pattern: RegExp, out: RegExp, again?: RegExp][] = [
  [/nightly-report/, /^reported\n$/, /^$/],
  [/hourly-import/, /^imported\n$/, /^imported\n$/],
  [/--wait forever/, /^deployed shop by alice\n$/],
  [/show/, /deploy\/shop/],
  [/--subtree/, /^deployed everything by \S+\n$/],
  [/HOLDFAST_EPOCH/, /^deployed shop --generation \d+ by \S+\n$/],
  [/--grace/, /^deployed shop by \S+\n$/],
];
const expectedOf = (command: string): (typeof prints)[number] | undefined =>
  prints.find(([pattern]) => pattern.test(command));

test.each(rest.filter((command) => !command.includes('--keep')))('C2: %s', (command) => {
  const [, out, again] = expectedOf(command) ?? [undefined, /^never$/];
  const first = shell(command);
  expect(first).toMatchObject({ code: 0, err: '' });
  expect(first.out).toMatch(out);
  if (again === undefined) return;
  const second = shell(command);
  expect(second).toMatchObject({ code: 0, err: '' });
  expect(second.out).toMatch(again);
});

test.each(rest.filter((command) => command.includes('--keep')))('C2: %s', async (command) => {
  const running = follow(spawn('sh', ['-c', `${store}\nexec ${command}`], { cwd: folder.path, env, stdio: 'pipe' }));
  await running.says(/^schedules leader\/scheduler$/m);
  running.process.kill('SIGTERM');
  expect(await running.ended).toBe(143);
});
