// SIGINT and SIGTERM (A9): the first shuts down in order, a second ends at once, and the handlers go when nobody needs
// them. The signals are not sent here: what listens for them is called.
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { managerSite, watched } from '../../test/support/manager-site.js';
import { settled } from '../../test/support/service-site.js';

type Handler = (signal: NodeJS.Signals) => void;

let before: { SIGINT: readonly unknown[]; SIGTERM: readonly unknown[] };
const exits: (number | string | null | undefined)[] = [];

beforeEach(() => {
  vi.resetModules(); // each test is a process of its own: whether it is ending is known once per process
  before = { SIGINT: process.listeners('SIGINT'), SIGTERM: process.listeners('SIGTERM') };
  exits.length = 0;
  vi.spyOn(process, 'exit').mockImplementation((code) => {
    exits.push(code);
    return undefined as never;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
});

function added(signal: 'SIGINT' | 'SIGTERM'): Handler[] {
  return process.listeners(signal).filter((one) => !before[signal].includes(one));
}
function send(signal: 'SIGINT' | 'SIGTERM'): void {
  for (const handler of added(signal)) handler(signal);
}
async function releaseOnExit(shutdown: () => Promise<void>): Promise<() => void> {
  return (await import('./release-on-exit.js')).releaseOnExit(shutdown);
}

test.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)(
  'A9: %s: everything is let go, then the process ends as the signal would have ended it',
  async (signal, code) => {
    const site = await managerSite();
    await site.leases.acquire('x');
    const leave = await releaseOnExit(() => site.leases.shutdown());
    send(signal);
    await site.pass(10);
    expect([exits, await site.live()]).toEqual([[code], []]);
    leave();
  },
);

test('A9: a second signal ends at once', async () => {
  let end = (): void => undefined;
  const leave = await releaseOnExit(
    () =>
      new Promise((resolve) => {
        end = resolve;
      }),
  );
  send('SIGTERM');
  await settled();
  expect(exits).toEqual([]);
  send('SIGINT');
  expect(exits[0]).toBe(130);
  end();
  await settled();
  leave();
});

test('A9: a shutdown that fails ends the process all the same', async () => {
  const leave = await releaseOnExit(() => Promise.reject(new Error('the store is gone')));
  send('SIGTERM');
  await settled();
  expect(exits).toEqual([143]);
  leave();
});

test('several managers: the process ends when all of them are down', async () => {
  const downs = [vi.fn(() => Promise.resolve()), vi.fn(() => Promise.resolve())];
  const module = await import('./release-on-exit.js');
  const leaves = downs.map((down) => module.releaseOnExit(down));
  expect(added('SIGTERM')).toHaveLength(1);
  send('SIGTERM');
  await settled();
  expect([exits, ...downs.map((down) => down.mock.calls.length)]).toEqual([[143], 1, 1]);
  for (const leave of leaves) leave();
});

test('taken back, by the last one, nothing listens any more', async () => {
  const module = await import('./release-on-exit.js');
  const [first, second] = [module.releaseOnExit(async () => undefined), module.releaseOnExit(async () => undefined)];
  first();
  first();
  expect([added('SIGINT').length, added('SIGTERM').length]).toEqual([1, 1]);
  second();
  expect([added('SIGINT').length, added('SIGTERM').length]).toEqual([0, 0]);
});

test('with a drain the work may finish first', async () => {
  const site = await managerSite();
  const lease = await site.leases.acquire('x');
  const leave = await releaseOnExit(() => site.leases.shutdown({ drain: '10s' }));
  send('SIGTERM');
  await site.pass(5_000);
  expect([exits, lease.isHeld]).toEqual([[], true]);
  watched(lease.release());
  await site.pass(10);
  expect(exits).toEqual([143]);
  leave();
});
