// A spool on a disk that takes no more (V7): what was said to be kept is there, whole and once; what could not be kept is
// told; and it goes on as soon as there is room.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, test, type TestContext } from 'vitest';
import { connect } from '../../src/connect.js';
import { SpoolFile } from '../../src/sequence/spool/spool-file.js';
import { homeOf, ownName } from '../../src/sequence/spool/spool-owner.js';
import { encodeRecord, type SpooledResult } from '../../src/sequence/spool/spool-record.js';
import { MemoryStore } from '../../src/stores/memory/index.js';
import { systemClock } from '../../src/system-clock.js';
import { FaultyStore } from '../../src/testing/faulty-store.js';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';

const clock = systemClock();
const HOME = homeOf({ kind: 'memory', namespace: 'default' });
let folder: TemporaryFolder;
let disk: string | undefined;
beforeEach(() => {
  folder = temporaryFolder();
  disk = undefined;
});
afterEach(() => {
  if (disk !== undefined) execFileSync('umount', [disk]);
  folder.remove();
});

const result = (operationId: string, bytes = 6_000): SpooledResult => ({
  stream: 's',
  operationId,
  kind: 'k',
  epoch: 1,
  operations: ['x'.repeat(bytes)],
});
const idsOf = (file: SpoolFile): string[] => file.results.map(({ operationId }) => operationId);
/** The name of a file whose process is gone. */
const leftByDead = (): string => ownName(clock, HOME).replace(`.${process.pid}.`, '.4194305.');

test('V7: a file that may not grow further: exactly what was said to be kept is found by whoever comes next', async () => {
  const child = fileURLToPath(new URL('../support/spool-child.mjs', import.meta.url));
  // The limit falls into the middle of a record: the disk takes a part of it, and says so only by a number.
  const shell = 'trap \'\' XFSZ; ulimit -f 40; exec "$1" "$2" "$3"';
  const args = ['-c', shell, 'bash', process.execPath, child, folder.path];
  const lines = execFileSync('bash', args, { encoding: 'utf8' }).trim().split('\n');
  expect(lines.at(-1)).toMatch(/^STORE_UNAVAILABLE the spool .* cannot be written \(EFBIG\)/);
  const kept = lines.slice(0, -1).map((line) => line.slice('kept '.length));
  expect(kept.length).toBeGreaterThan(20);
  const file = await SpoolFile.open(folder.path, clock, HOME);
  expect(idsOf(file)).toEqual(kept);
  await file.close();
});

describe('a small disk, where this user may mount one', () => {
  const place = (): string => join(folder.path, 'disk');
  const mountSmall = (context: TestContext): void => {
    mkdirSync(place());
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=256k', 'tmpfs', place()], { stdio: 'ignore' });
    } catch {
      context.skip('mounting a file system is not allowed here');
    }
    disk = place();
  };
  const spool = (): string => join(place(), 'spool');
  const fillUp = (leave = 0): void => {
    const { bavail, bsize } = statfsSync(place());
    writeFileSync(join(place(), 'ballast'), Buffer.alloc(bavail * bsize - leave));
  };
  const makeRoom = (): void => rmSync(join(place(), 'ballast'));
  const full = {
    code: 'STORE_UNAVAILABLE',
    message: expect.stringMatching(/the disk that holds the spool .* is full/) as string,
  };

  test('V7: nothing half kept, nothing ticked off by half; it goes on when there is room', async (context) => {
    mountSmall(context);
    const file = await SpoolFile.open(spool(), clock, HOME);
    await file.keep(result('a'));
    await file.keep(result('b'));
    fillUp(8_192);
    await file.keep(result('c'));
    await expect(file.keep(result('d', 20_000))).rejects.toMatchObject(full);
    expect(idsOf(file)).toEqual(['a', 'b', 'c']);
    makeRoom();
    await file.keep(result('e'));
    await file.done('s', 'b');
    await file.close();
    const [name = ''] = readdirSync(spool());
    writeFileSync(join(spool(), leftByDead()), readFileSync(join(spool(), name)));
    rmSync(join(spool(), name));
    const next = await SpoolFile.open(spool(), clock, HOME);
    expect(idsOf(next)).toEqual(['a', 'c', 'e']);
    await next.close();
  });

  test('V7: what a dead process left stays where it is until there is room to take it over', async (context) => {
    mountSmall(context);
    mkdirSync(spool());
    const left = leftByDead();
    const records = ['a', 'b', 'c'].map((id) => encodeRecord({ what: 'keep', result: result(id) }));
    writeFileSync(join(spool(), left), Buffer.concat(records));
    fillUp(8_192);
    const file = await SpoolFile.open(spool(), clock, HOME);
    expect(file.behind).toMatchObject(full);
    expect(readdirSync(spool())).toContain(left);
    makeRoom();
    await file.takeOver(spool(), clock);
    expect(file.behind).toBeUndefined();
    expect(idsOf(file)).toEqual(['a', 'b', 'c']);
    expect(readdirSync(spool())).not.toContain(left);
    await file.close();
  });

  test('V7: a commit that neither the store nor the disk takes stays the caller’s; the next is spooled and stored once', async (context) => {
    mountSmall(context);
    const store = new FaultyStore(new MemoryStore({ clock }), clock);
    const leases = await connect(store, { clock, services: 'off', requestTimeout: 200 });
    const stream = leases.sequence<string>('orders', { spool: spool() });
    const first = await stream.lease({ operationId: 'first', kind: 'k', ttl: '1s' });
    const second = await stream.lease({ operationId: 'second', kind: 'k', ttl: '1s' });
    store.order({ fault: 'fail', times: Infinity });
    fillUp();
    const [one, two] = ['x'.repeat(20_000), 'y'.repeat(20_000)];
    await expect(first.commit(one)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('is full') as string,
      details: { spooled: false },
    });
    makeRoom();
    await expect(second.commit(two)).rejects.toMatchObject({ details: { spooled: true } });
    store.heal();
    // The caller still has the first: it leases its operation again, which takes the number up where nobody recovered it.
    const again = await stream.lease({ operationId: 'first', kind: 'k' });
    expect(await again.commit(one)).toMatchObject({ number: 1 });
    const stored = async (): Promise<unknown[]> =>
      (await stream.peek(1, 9)).flatMap(({ operationId, operation }) => (operation ? [[operationId, operation]] : []));
    await expect.poll(stored, { timeout: 30_000 }).toEqual([
      ['first', one],
      ['second', two],
    ]);
    await leases.shutdown();
    expect(readdirSync(spool())).toEqual([]);
  });
});
