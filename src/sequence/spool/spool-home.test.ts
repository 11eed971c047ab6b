// Whose results a spool file has: one folder for several namespaces and stores, which must not store each other's.
import { readdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../../../test/support/temporary-folder.js';
import { connect } from '../../connect.js';
import type { Holdfast } from '../../holdfast.js';
import { MemoryStore } from '../../stores/memory/index.js';
import type { Store } from '../../stores/store.js';
import { systemClock } from '../../system-clock.js';
import { FaultyStore } from '../../testing/faulty-store.js';

let folder: TemporaryFolder;
let opened: Holdfast[] = [];
let memory: MemoryStore;
beforeEach(() => {
  folder = temporaryFolder();
  memory = new MemoryStore({ clock: systemClock() });
});
afterEach(async () => {
  await Promise.all(opened.map((leases) => leases.shutdown()));
  opened = [];
  folder.remove();
});

async function open(store: string | Store, namespace: string, warned: string[] = []) {
  const quiet = (): void => undefined;
  const logger = { debug: quiet, info: quiet, error: quiet, warn: (_: object, text: string) => warned.push(text) };
  const leases = await connect(store, { services: 'off', namespace, logger });
  opened.push(leases);
  return { leases, stream: leases.sequence<string>('orders', { spool: folder.path }) };
}
/** A result of the namespace prod is left in the folder. */
async function leaveOne(): Promise<void> {
  const store = new FaultyStore(memory, systemClock());
  const { leases, stream } = await open(store, 'prod');
  const held = await stream.lease({ operationId: 'a', kind: 'k', ttl: '500ms' });
  store.order({ calls: ['sequence.commit', 'sequence.append'], fault: 'fail', times: Infinity });
  await expect(held.commit('of prod')).rejects.toMatchObject({ details: { spooled: true } });
  await leases.shutdown();
}
const spoolFiles = (): string[] => readdirSync(folder.path).filter((name) => name.endsWith('.spool'));

test('V7: what was spooled for one namespace is stored there, and by nobody in another', async () => {
  await leaveOne();
  const warned: string[] = [];
  const staging = await open(memory, 'staging', warned);
  await expect.poll(() => warned).toEqual([expect.stringContaining('other stores or namespaces')]);
  const prod = await open(memory, 'prod');
  const inProd = async () => (await prod.stream.peek(1, 9)).map(({ operation }) => operation);
  await expect.poll(inProd, { timeout: 5_000 }).toContain('of prod');
  expect(await staging.stream.figures()).toBeUndefined();
});

test('V7: nor in another store with a namespace of that name', async () => {
  await leaveOne();
  const warned: string[] = [];
  const elsewhere = await open(`sqlite:${join(folder.path, 'other.db')}`, 'prod', warned);
  await expect.poll(() => warned).toHaveLength(1);
  expect(await elsewhere.stream.figures()).toBeUndefined();
});

test('V7: a file whose name does not say what it is for, of an older version, is for whoever opens the folder', async () => {
  await leaveOne();
  const [name = ''] = spoolFiles();
  const old = name.replace(/\.[a-f0-9]{16}\./, '.').replace(`.${process.pid}.`, '.4194305.');
  renameSync(join(folder.path, name), join(folder.path, old));
  const staging = await open(memory, 'staging');
  await expect.poll(() => staging.stream.watermark(), { timeout: 5_000 }).toBe(1);
});
