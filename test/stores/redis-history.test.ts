// The history of a name in a log in which other names, owners and reasons hold its text: what only holds it is not looked for, so it
// hides nothing (A8). Rows are those of single leases, of leases on several names, and of lists that were granted and released together.
import { describe, expect, test } from 'vitest';
import type { LogRow } from '../../src/domain/events.js';
import type { Lease } from '../../src/domain/lease.js';
import type { Part } from '../../src/domain/part.js';
import type { AcquireRequest, EventQuery } from '../../src/domain/requests.js';
import type { Store } from '../../src/stores/store.js';
import { systemClock } from '../../src/system-clock.js';
import { ask, grant } from '../support/ask.js';
import { onRedis } from '../support/redis-site.js';
import { isSkipped } from '../support/servers/server-process.js';

const clock = systemClock();
const node = (name: string): Part => ({ name, scope: 'node', mode: 'exclusive' });
const neighbours = (name: string): string[] => Array.from({ length: 100 }, (_, i) => `${name}${i}`);
let store: Store;

async function end(leases: readonly Lease[]): Promise<void> {
  const ends = leases.map(({ id, epoch }) => ({ id, epoch, requestId: clock.randomText(), why: 'released' as const }));
  await store.end(ends);
}
/** Each is granted and released, all of them together. */
async function useTogether(names: readonly string[], changes: Partial<AcquireRequest> = {}): Promise<void> {
  const template = await ask(store, clock, 'any', changes);
  const { results } = await store.acquire(
    names.map((name, i) => ({ ...template, id: `${template.id}-${i}`, parts: [node(name)] })),
  );
  await end(results.flatMap((result) => (result.outcome === 'granted' ? [result.lease] : [])));
}
async function use(names: readonly string[], changes: Partial<AcquireRequest> = {}): Promise<void> {
  await end([await grant(store, clock, 'any', { parts: names.map(node), ...changes })]);
}
async function history(query: Partial<EventQuery>): Promise<readonly LogRow[]> {
  const page = await store.events({ backward: true, limit: 50, ...query });
  return page.outcome === 'rows' ? page.rows : [];
}
const twice = (times: number): string[] =>
  Array.from({ length: times }, () => ['lease.released', 'lease.acquired']).flat();
const types = (rows: readonly LogRow[]): string[] => rows.map(({ type }) => type);

describe.skipIf(isSkipped('redis'))('the history of a name on Redis', () => {
  onRedis(clock, {}, (site) => {
    ({ store } = site);
  });

  test('A8: is shown, however many neighbours have the name in theirs', async () => {
    await use(['job/1']);
    await use(['job/1', 'job/2']);
    await useTogether(['job/1', 'job/3']);
    await use(['a', 'job/1', 'job/10']);
    for (let round = 0; round < 2; round += 1) {
      await useTogether(neighbours('job/1'));
      for (const name of neighbours('my/job/1').slice(0, 20)) await use([name, `${name}/job/1`]);
    }
    const { history: shown } = await store.show('job/1', 50);
    expect(types(shown)).toEqual(twice(4));
    expect((await store.show('job/1', 3)).history).toEqual(shown.slice(0, 3));
    expect(await history({ resource: 'job/1' })).toEqual(shown);
    expect(types((await store.show('job/2', 50)).history)).toEqual(twice(1));
  });

  test('A8: is shown, however often an owner or an operation is called like it', async () => {
    await use(['job/1']);
    for (let round = 0; round < 2; round += 1) {
      await useTogether(neighbours('other'), { owner: 'job/1' });
      await useTogether(neighbours('job/1/'), { operationId: 'job/1' });
    }
    expect(types((await store.show('job/1', 50)).history)).toEqual(twice(1));
  });

  test('A8: below a name the rows of one call are those below it, and of several names one is enough', async () => {
    await use(['a', 'job/1']);
    await use(['job']);
    for (let round = 0; round < 2; round += 1) await useTogether(neighbours('job'), { owner: 'job' });
    const below = await history({ prefix: 'job' });
    expect(below.map(({ resources, resource }) => resources ?? resource)).toEqual(
      [['job'], ['job'], ['a', 'job/1'], ['a', 'job/1']].map((names) => (names.length > 1 ? names : names[0])),
    );
  });
});
