// ops/compose.yml, read as text: what it publishes is on the loopback address only, and servers of this machine take the
// settings it gives them.
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { startPostgres } from '../support/servers/postgres-server.js';
import { startRedis } from '../support/servers/redis-server.js';
import { isSkipped } from '../support/servers/server-process.js';

const text = readFileSync(new URL('../../ops/compose.yml', import.meta.url), 'utf8');
const commandOf = (program: string): string => new RegExp(`^ +command: ${program} (.*)$`, 'm').exec(text)?.[1] ?? '';

test('every port it publishes is on the loopback address, and every image has its version', () => {
  const ports = [...text.matchAll(/^ +ports: (.*)$/gm)].map(([, list]) => list);
  expect(ports).toHaveLength(2);
  for (const list of ports) expect(list).toMatch(/^\["127\.0\.0\.1:\$\{[A-Z]+_PORT:-\d+\}:\d+"\]$/);
  const images = [...text.matchAll(/^ +image: (.*)$/gm)].map(([, image]) => image);
  expect(images).toHaveLength(2);
  for (const image of images) expect(image).toMatch(/:\d+$/);
});

describe.skipIf(isSkipped('redis'))('redis', () => {
  test('takes the settings of the file', async () => {
    const settings = Object.fromEntries(
      [...commandOf('redis-server').matchAll(/--(\S+) (\S+)/g)].map(([, name = '', value = '']) => [name, value]),
    );
    expect(Object.keys(settings)).toEqual(['appendonly', 'appendfsync', 'maxmemory-policy']);
    const server = await startRedis({ settings });
    await server.remove();
  });
});

describe.skipIf(isSkipped('postgres'))('postgres', () => {
  test('takes the settings of the file', async () => {
    const settings = Object.fromEntries(
      [...commandOf('postgres').matchAll(/-c ([a-z_]+)=(\S+)/g)].map(([, name = '', value = '']) => [name, value]),
    );
    expect(Object.keys(settings)).toEqual(['max_connections']);
    const server = await startPostgres({ settings });
    await server.remove();
  });
});
