// holdfast seq (C8): streams as whoever keeps them running sees them. The streams are made by the library, as they are.
import { expect, describe, test } from 'vitest';
import { connect, type Holdfast, type Stream } from '../../src/index.js';
import { commandSite } from '../support/command-site.js';

const site = commandSite();

/** Number 1 and 4 committed, 2 a gap, 3 expired with a finished result, 5 open. */
async function withStream<T>(use: (stream: Stream<unknown>, leases: Holdfast) => Promise<T>): Promise<T> {
  const leases = await connect(site.url, { services: 'off', owner: 'writer' });
  try {
    return await use(leases.sequence('orders'), leases);
  } finally {
    await leases.shutdown();
  }
}
async function fillStream(): Promise<void> {
  await withStream(async (stream, leases) => {
    await (await stream.lease({ operationId: 'one', kind: 'order' })).commit({ total: 3 });
    await (await stream.lease({ operationId: 'two', kind: 'order' })).release('no stock');
    const third = await stream.lease({ operationId: 'three', kind: 'order', ttl: '100ms' });
    await third.finished('kept');
    await (await stream.lease({ operationId: 'four', kind: 'order' })).commit(4);
    await stream.lease({ operationId: 'five', kind: 'import' });
    for await (const item of stream.reader('projection').follow()) {
      await item.done();
      break;
    }
    const isOver = async (): Promise<boolean> => (await leases.now()).storeNow >= third.expiresAt;
    await expect.poll(isOver, { interval: 10 }).toBe(true);
  });
}

describe('C8: seq', () => {
  test('C8: a store without streams says so; looking makes none', async () => {
    await site.run('migrate');
    expect(await site.run('seq', 'ls')).toEqual({ code: 0, out: '', err: 'holdfast: there is no stream in default\n' });
    expect((await site.run('seq', 'show', 'orders')).code).toBe(76);
    expect((await site.run('seq', 'ls', '--json')).out).toBe('{"items":[]}\n');
  });

  test('C8: ls and show tell what is open and what blocks', async () => {
    await fillStream();
    site.env['COLUMNS'] = '120';
    expect((await site.run('seq', 'ls')).out).toMatch(
      /^STREAM +LEASED +OPEN +WATERMARK +OLDEST +GAPS +MOVED +MANUAL +READERS\norders +5 +2 +2 +\S+ +1 +0 +0 +1\n$/,
    );
    const { out } = await site.run('seq', 'show', 'orders');
    expect(out).toContain(
      'orders: settled up to 2 of 5 numbers\n  open     2\n  oldest   3 (three, order) leased by writer, expired ',
    );
    expect(out).toMatch(/reader {3}projection is done with 1, 1 behind, last moved \S+ \S+Z/);
    const figures = JSON.parse((await site.run('seq', 'show', 'orders', '--json')).out) as object;
    expect(figures).toMatchObject({
      leased: 5,
      open: 2,
      watermark: 2,
      gaps: 1,
      readers: [{ name: 'projection', done: 1 }],
    });
  });

  test('C8: gaps lists them, fill stores one: at its number, or elsewhere when it was shown', async () => {
    await withStream(async (stream) => {
      for (const operationId of ['a', 'b'])
        await (await stream.lease({ operationId, kind: 'order' })).release('no stock');
    });
    const { out } = await site.run('seq', 'gaps', 'orders');
    expect(out).toMatch(/^NUMBER +STATE +OPERATION +KIND +SINCE +REASON\n +1 +fillable +a +order +\S+ \S+ +no stock\n/);
    expect((await site.run('seq', 'fill', 'orders', '2', 'b', '{"by":"hand"}')).out).toBe('filled 2 of orders\n');
    await withStream((stream) => stream.read(1, 10));
    expect((await site.shell(`echo '"late"' | holdfast seq fill orders 1 a`)).out).toBe(
      'gap 1 of orders was shown already: stored as 3\n',
    );
    expect((await site.run('seq', 'gaps', 'orders')).out).toContain('moved to 3');
    expect(await site.run('seq', 'fill', 'orders', '1', 'z', '1')).toMatchObject({ code: 64, out: '' });
    expect((await site.run('seq', 'fill', 'orders', '1', 'a', 'no json')).err).toContain('the operation is JSON');
    expect((await site.run('seq', 'fill', 'orders', '9', 'a', '1')).err).toContain('has never been leased');
  });

  test('C8, V1: recover settles what has expired', async () => {
    await fillStream();
    expect((await site.run('seq', 'recover', '--json')).out).toBe('{"settled":1,"failed":0}\n');
    expect((await site.run('seq', 'recover', 'orders')).out).toBe('0 settled\n');
    expect((await site.run('seq', 'show', 'orders')).out).toContain('settled up to 4 of 5 numbers');
  });

  test('C8: readers, trim and forgetting a reader', async () => {
    await fillStream();
    expect((await site.run('seq', 'readers', 'orders')).out).toMatch(/^reader {3}projection is done with 1, 1 behind/);
    const first = await site.run('seq', 'trim', 'orders', '--before', '3');
    expect([first.code, first.out]).toEqual([0, 'removed 1 operations of orders; it begins at 2\n']);
    expect(first.err).toContain('numbers from 2 on are still to be read');
    expect((await site.run('seq', 'readers', 'orders', '--forget', 'nobody')).code).toBe(76);
    expect((await site.run('seq', 'readers', 'orders', '--forget', 'projection')).err).toContain(
      'orders has no reader',
    );
    expect((await site.run('seq', 'trim', 'orders', '--before', '3', '--json')).out).toBe(
      '{"removed":0,"trimmedBefore":3}\n',
    );
  });

  test('C8, V4: manual lists, retries and discards', async () => {
    await withStream(async (stream) => {
      const held = await stream.lease({ operationId: 'bad', kind: 'import', ttl: '100ms' });
      await held.partial('half');
      stream.recovery.rebuild('import', async () => Promise.reject(new Error('no disk')));
      for (;;) {
        await stream.recovery.run();
        if ((await stream.figures())?.manual === 1) break;
      }
    });
    const { out } = await site.run('seq', 'manual', 'ls');
    expect(out).toMatch(
      /^STREAM +NUMBER +OPERATION +KIND +TRIES +RESULT +LAST ERROR\norders +1 +bad +import +3 +partial +no disk\n$/,
    );
    expect((await site.run('seq', 'manual', 'retry', 'orders', 'bad')).out).toMatch(/^queued/);
    expect((await site.run('seq', 'manual', 'discard', 'orders', 'bad')).out).toBe(
      'discarded bad of orders: its number stays a gap\n',
    );
    expect((await site.run('seq', 'manual', 'ls')).err).toBe('holdfast: nothing waits for a person\n');
    expect(await site.run('seq', 'manual', 'retry', 'orders', 'bad')).toMatchObject({ code: 76 });
  });

  test('C8: bad usage is told in one line', async () => {
    await site.run('migrate');
    expect((await site.run('seq', 'trim', 'orders')).code).toBe(64);
    expect((await site.run('seq', 'gaps')).code).toBe(64);
    expect((await site.run('seq', 'gaps', 'orders', '--after', 'x')).code).toBe(64);
    expect((await site.run('seq', 'show', 'a//b')).code).toBe(64);
    expect((await site.run('seq', '--help')).out).toContain('holdfast seq manual ls');
  });
});
