// The Redis link as a process of its own sees it: which package is loaded, what is said when there is none, and that a connection
// keeps no process alive.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startRedis, type RedisServer } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const built = new URL('../../dist/', import.meta.url).href;
const hook = fileURLToPath(new URL('../support/hide-packages-child.mjs', import.meta.url));
const TOO_LONG_MS = 20_000;

/** A program that asks, hears, and then does nothing more: `setTimeout` holds it while it waits to hear, a link would not. */
const PROGRAM = `
  const [url, built] = process.argv.slice(1);
  const { openLink } = await import(built + 'stores/redis/open-link.js');
  const { systemClock } = await import(built + 'system-clock.js');
  try {
    const link = await openLink(url, { clock: systemClock() });
    await new Promise((resolve) => {
      const patience = setTimeout(resolve, 10_000);
      const up = () => (clearTimeout(patience), resolve());
      link.subscribe('wake', { message() {}, down() {}, up });
    });
    console.log(link.facts().client, link.facts().hears, await link.command('', ['PING']));
  } catch (error) {
    console.log(error.code, error.message);
  }`;

/** A program that loses its server, outlives the time in which the lost client is put away, and asks again. */
const LOSING_PROGRAM = `
  const [url, built] = process.argv.slice(1);
  const { openLink } = await import(built + 'stores/redis/open-link.js');
  const { systemClock } = await import(built + 'system-clock.js');
  const nobody = url.replace(/:\\d+$/, ':1');
  await openLink(nobody, { clock: systemClock() }).catch((error) => console.log(error.message));
  const link = await openLink(url, { clock: systemClock() });
  await link.command('', ['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'no']).catch(() => undefined);
  await new Promise((resolve) => setTimeout(resolve, 5_500));
  console.log(await link.command('', ['PING']));
  await link.command('', ['CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'no']).catch(() => undefined);
  await link.close();`;

function run(hidden: string, url: string, program = PROGRAM): { output: string; status: number | null } {
  const args = ['--import', hook, '--input-type=module', '-e', program, url, built];
  const env = { ...process.env, HIDE: hidden };
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { env, encoding: 'utf8', timeout: TOO_LONG_MS });
  return { output: (stdout + stderr).trim(), status };
}

describe.skipIf(isSkipped('redis'))('a process with a Redis link', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server.remove());

  test('uses redis where it is installed, and ends by itself with the link open', () => {
    expect(run('ioredis', server.url)).toEqual({ output: 'redis true PONG', status: 0 });
  });

  test('uses ioredis where only that is installed, and ends by itself with the link open', () => {
    expect(run('redis', server.url)).toEqual({ output: 'ioredis true PONG', status: 0 });
  });

  test('S12, A11: of the oldest redis we take, a lost connection ends nothing, and a refusal keeps its cause', () => {
    const { output, status } = run('redis=redis-oldest', server.url, LOSING_PROGRAM);
    expect(output).toMatch(/^nobody listens at redis:.*\nPONG$/);
    expect(status).toBe(0);
  });

  test('A11: says what to install where neither is', () => {
    const { output, status } = run('redis,ioredis', server.url);
    expect(output).toMatch(/^STORE_UNAVAILABLE .*npm install redis/);
    expect(status).toBe(0);
  });
});
