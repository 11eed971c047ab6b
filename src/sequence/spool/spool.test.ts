// The spool: what is on the disk, what is cut off, who owns it; and a store that is away while results come in.
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { connect } from '../../connect.js';
import type { Holdfast } from '../../holdfast.js';
import { MemoryStore } from '../../stores/memory/index.js';
import { FakeClock } from '../../testing/fake-clock.js';
import { FaultyStore } from '../../testing/faulty-store.js';
import { SpoolFile } from './spool-file.js';
import { homeOf, ownerOf, ownName } from './spool-owner.js';
import { decodeRecords, encodeRecord, type SpoolRecord } from './spool-record.js';

/** Of the memory store that the streams here are in. */
const HOME = homeOf({ kind: 'memory', namespace: 'default' });
let folder: string;
let clock: FakeClock;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-spool-'));
  clock = new FakeClock();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const result = (operationId: string) => ({
  stream: 'orders',
  operationId,
  kind: 'k',
  epoch: 1,
  operations: [{ operationId }],
});
const spoolFiles = (): string[] => readdirSync(folder).filter((name) => name.endsWith('.spool'));
/** The name a file would have that a process left which is gone. */
const leftByDead = (): string => {
  const pid = Number(execFileSync(process.execPath, ['-e', 'console.log(process.pid)'], { encoding: 'utf8' }));
  return ownName(clock, HOME).replace(`.${process.pid}.`, `.${pid}.`);
};

describe('V7: records', () => {
  const records: SpoolRecord[] = [
    { what: 'keep', result: result('a') },
    { what: 'done', stream: 'orders', operationId: 'a' },
    { what: 'keep', result: result('ü') },
  ];
  const bytes = Buffer.concat(records.map(encodeRecord));

  test('V7: what was written is read', () => {
    expect(decodeRecords(bytes)).toEqual({ records, length: bytes.length });
  });
  test('V7: a file cut short anywhere gives its whole records and no more', () => {
    const ends = records.map((_, i) => Buffer.concat(records.slice(0, i + 1).map(encodeRecord)).length);
    for (let cut = 0; cut < bytes.length; cut += 1) {
      const { records: whole, length } = decodeRecords(bytes.subarray(0, cut));
      expect(whole.length).toBe(ends.filter((end) => end <= cut).length);
      expect(length).toBe(ends[whole.length - 1] ?? 0);
    }
  });
  test('V7: a byte that changed ends the file before its record', () => {
    const broken = Buffer.from(bytes);
    broken[broken.length - 2]! ^= 1;
    expect(decodeRecords(broken).records).toEqual(records.slice(0, 2));
  });
});

describe('V7: the file', () => {
  test('V7: results of a process that is gone are taken over, also from a file cut short; its own file goes', async () => {
    const name = leftByDead();
    const bytes = Buffer.concat([
      encodeRecord({ what: 'keep', result: result('a') }),
      encodeRecord({ what: 'keep', result: result('b') }),
      encodeRecord({ what: 'done', stream: 'orders', operationId: 'a' }),
      encodeRecord({ what: 'keep', result: result('half') }),
    ]);
    writeFileSync(join(folder, name), bytes);
    truncateSync(join(folder, name), bytes.length - 3);
    const file = await SpoolFile.open(folder, clock, HOME);
    expect(file.results).toEqual([result('b')]);
    expect(spoolFiles()).toHaveLength(1);
    expect(decodeRecords(readFileSync(file.path)).records).toHaveLength(1);
    await file.close();
    expect(spoolFiles()).toHaveLength(1);
  });

  test('V7: a file of a process that lives, of another machine, or of nobody is let be', async () => {
    const own = await SpoolFile.open(folder, clock, HOME);
    await own.keep(result('mine'));
    const elsewhere = `elsewhere.boot.1.1.abc.spool`;
    writeFileSync(join(folder, elsewhere), 'x');
    writeFileSync(join(folder, 'notes.txt'), 'x');
    const owners = readdirSync(folder).map((name) => ownerOf(name, clock));
    expect(owners.sort()).toEqual(['elsewhere', 'other', 'own']);
    const parent = ownName(clock, HOME).replace(`.${process.pid}.`, `.${process.ppid}.`);
    expect(ownerOf(parent, clock)).toBe('dead'); // its number, but not when it began
    const second = await SpoolFile.open(folder, clock, HOME);
    expect([second.results, second.foreign]).toEqual([[], [elsewhere]]);
    await second.close();
    await own.close();
  });

  test('V7: a result is not said to be kept in a file that is no longer where its owner put it', async () => {
    const file = await SpoolFile.open(folder, clock, HOME);
    await file.keep(result('a'));
    renameSync(file.path, join(folder, 'taken'));
    await expect(file.keep(result('b'))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    writeFileSync(file.path, '');
    await expect(file.keep(result('c'))).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    expect(file.results).toEqual([result('a')]);
    await file.close();
  });

  test('V7: when nothing is left in it a file begins anew, and goes with its owner', async () => {
    const file = await SpoolFile.open(folder, clock, HOME);
    await Promise.all([file.keep(result('a')), file.keep(result('b'))]);
    await file.done('orders', 'a');
    await file.done('orders', 'nobody');
    expect(statSync(file.path).size).toBeGreaterThan(0);
    await file.done('orders', 'b');
    expect(statSync(file.path).size).toBe(0);
    await file.close();
    expect(spoolFiles()).toEqual([]);
  });

  test('V7: what was closed in this very process is taken over when it is opened again, however the folder is named', async () => {
    const first = await SpoolFile.open(folder, clock, HOME);
    await first.keep(result('a'));
    await first.close();
    symlinkSync(folder, join(folder, 'other-name'));
    const second = await SpoolFile.open(join(folder, 'other-name'), clock, HOME);
    expect(second.results).toEqual([result('a')]);
    expect(spoolFiles()).toHaveLength(1);
    const beside = await SpoolFile.open(folder, clock, HOME);
    expect([beside.results, beside.behind]).toEqual([[], undefined]); // the second is in use
    await second.keep(result('b'));
    await Promise.all([second.close(), beside.close()]);
    const both = await Promise.all([SpoolFile.open(folder, clock, HOME), SpoolFile.open(folder, clock, HOME)]);
    expect(both.flatMap((file) => file.results)).toEqual([result('a'), result('b')]);
    await Promise.all(both.map((file) => file.close()));
  });

  test('V7: a file under this process’s name that it did not close itself is let be: another thread may write there', async () => {
    const name = ownName(clock, HOME);
    writeFileSync(join(folder, name), encodeRecord({ what: 'keep', result: result('theirs') }));
    const file = await SpoolFile.open(folder, clock, HOME);
    expect([file.results, spoolFiles().includes(name)]).toEqual([[], true]);
    await file.close();
  });

  test('V7: what cannot be read is said, given back and tried again, also when it seems to be gone', async () => {
    const name = leftByDead();
    symlinkSync(join(folder, 'nowhere'), join(folder, name));
    const file = await SpoolFile.open(folder, clock, HOME);
    expect(file.behind).toMatchObject({ details: { code: 'ENOENT', path: join(folder, name) } });
    expect(readdirSync(folder)).toContain(name);
    writeFileSync(join(folder, 'nowhere'), encodeRecord({ what: 'keep', result: result('a') }));
    await file.takeOver(folder, clock);
    expect([file.results, file.behind]).toEqual([[result('a')], undefined]);
    await file.close();
  });

  test('V7: a folder that cannot be written says so', async () => {
    const inTheWay = join(folder, 'file');
    appendFileSync(inTheWay, 'x');
    await expect(SpoolFile.open(inTheWay, clock, HOME)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('cannot be written') as string,
    });
  });
});

describe('V7: a store that is away', () => {
  let store: FaultyStore;
  let leases: Holdfast;
  beforeEach(async () => {
    store = new FaultyStore(new MemoryStore({ clock }), clock);
    leases = await connect(store, { clock, services: 'off', owner: 'me', requestTimeout: 500 });
  });
  afterEach(async () => {
    store.heal();
    await passing(leases.shutdown(), () => true);
  });

  /** Lets time and the disk go on until it is so. */
  async function passing<T>(work: Promise<T>, isEnough: () => boolean | Promise<boolean>, stepMs = 50): Promise<void> {
    const over = new AbortController();
    work.then(
      () => over.abort(),
      () => over.abort(),
    );
    for (let turn = 0; turn < 50_000; turn += 1) {
      if (over.signal.aborted && (await isEnough())) return;
      await clock.advance(stepMs);
      await nextTurn();
    }
    throw new Error('it never came about');
  }
  const open = () => leases.sequence<string>('orders', { spool: folder });

  test('V7: partition: a result that cannot be committed is spooled, and moved when the store is back', async () => {
    const stream = open();
    const held = await stream.lease({ operationId: 'a', kind: 'k', ttl: '10s' });
    store.order({ fault: 'fail', times: Infinity });
    const commit = held.commit('done');
    commit.catch(() => undefined);
    await passing(commit, () => true);
    await expect(commit).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', details: { spooled: true } });
    expect(spoolFiles()).toHaveLength(1);
    await clock.advance(10_000);
    store.heal();
    await passing(Promise.resolve(), async () => (await stream.watermark()) === 2);
    expect((await stream.peek(1, 9)).map(({ number, state, operation }) => [number, state, operation])).toEqual([
      [1, 'moved', undefined],
      [2, 'committed', 'done'],
    ]);
    await passing(Promise.resolve(), () => spoolFiles().every((name) => statSync(join(folder, name)).size === 0));
  });

  test('V7: back in time, the commit itself is answered, at its own number, once', async () => {
    const stream = open();
    const held = await stream.lease({ operationId: 'a', kind: 'k', ttl: '30d' }); // the disk takes its own time
    store.order({ calls: 'sequence.commit', fault: 'failAfter', times: 3 });
    const commit = held.commit('done');
    await passing(commit, () => true);
    expect(await commit).toEqual({ number: 1, repeated: true });
    expect(await stream.peek(1, 9)).toHaveLength(1);
  });

  test('V7: what another process left in the folder is stored by whoever opens it', async () => {
    const bytes = encodeRecord({ what: 'keep', result: { ...result('left'), operations: ['left behind'] } });
    writeFileSync(join(folder, leftByDead()), bytes);
    const stream = open();
    await passing(Promise.resolve(), async () => (await stream.watermark()) === 1);
    expect((await stream.peek(1, 1))[0]).toMatchObject({ operationId: 'left', operation: 'left behind' });
  });

  test('V7: a result the store refuses for good is set aside, not lost', async () => {
    const stream = open();
    await (await stream.lease({ operationId: 'a', kind: 'k' })).commit('first');
    const bytes = encodeRecord({ what: 'keep', result: { ...result('a'), operations: ['other'] } });
    writeFileSync(join(folder, leftByDead()), bytes);
    const again = await connect(store, { clock, services: 'off' });
    again.sequence('orders', { spool: folder });
    await passing(
      Promise.resolve(),
      () =>
        readdirSync(folder).includes('refused.jsonl') &&
        readFileSync(join(folder, 'refused.jsonl'), 'utf8').endsWith('\n'),
    );
    expect(JSON.parse(readFileSync(join(folder, 'refused.jsonl'), 'utf8'))).toMatchObject({
      operationId: 'a',
      operations: ['other'],
    });
    expect(await stream.peek(1, 9)).toHaveLength(1);
    await passing(again.shutdown(), () => true);
  });

  test('V7: without a spool, or with one that cannot be written, the caller keeps its result and is told', async () => {
    const inTheWay = join(folder, 'file');
    appendFileSync(inTheWay, 'x');
    for (const [options, details] of [
      [{}, { timedOut: undefined }],
      [{ spool: inTheWay }, { spooled: false }],
    ] as const) {
      const stream = leases.sequence<string>('orders', options);
      const held = await stream.lease({ operationId: JSON.stringify(options), kind: 'k', ttl: '10s' });
      store.order({ fault: 'fail', times: Infinity });
      const commit = held.commit('done');
      commit.catch(() => undefined);
      await passing(commit, () => true);
      await expect(commit).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
      const error = await commit.catch((one: unknown) => one as { details: Record<string, unknown> });
      expect((error as { details: Record<string, unknown> }).details['spooled']).toBe(
        'spooled' in details ? false : undefined,
      );
      store.heal();
    }
  });
});
