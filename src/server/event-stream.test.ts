// Catching up while the log goes on: the last page is sent at the pace of its reader, and the hub does not wait for it.
import { expect, test } from 'vitest';
import { connect } from '../connect.js';
import type { LogRow } from '../domain/events.js';
import { silentLogger } from '../observe/logger.js';
import { MemoryStore } from '../stores/memory/index.js';
import { systemClock } from '../system-clock.js';
import { DEFAULT_LIMITS, type Caller, type ServerRequest } from './context.js';
import { EventStream, type EventQuery } from './event-stream.js';

const caller: Caller = { tokenId: undefined, name: 'ops', role: 'admin', prefix: undefined, owner: undefined };
/** One page of them is more than a client may have under way before sending pauses for it. */
const MINE = Array.from({ length: 120 }, (_, n) => `mine/${'x'.repeat(480)}/${n}`);
/** Some 50 kB an event: two hundred are more than the hub keeps. */
const BIG = Array.from({ length: 64 }, (_, n) => `big/${'x'.repeat(480)}/${n}`);
const BIG_CHANGES = 100;

async function rows(store: MemoryStore): Promise<LogRow[]> {
  const all: LogRow[] = [];
  for (let after: string | undefined; ;) {
    const page = await store.events({ limit: 1_000, ...(after === undefined ? {} : { after }) });
    if (page.outcome === 'lost') throw new Error('lost');
    all.push(...page.rows);
    if (!page.more) return all;
    after = page.next;
  }
}

test('W1, H1: nothing is missing for a client that takes its last page slowly while the hub lets go of what follows', async () => {
  const clock = systemClock();
  const store = new MemoryStore({ clock });
  const leases = await connect(store, { services: 'off', owner: 'worker' });
  /** Two events. */
  const change = async (names: string | string[]): Promise<void> => {
    await (await leases.acquire(names, { ttl: '1m' })).release();
  };
  const { signal: draining } = new AbortController();
  const access = { onEnd: () => () => undefined };
  const stream = new EventStream({
    ...{ leases, store, clock, access, draining },
    ...{ logger: silentLogger, limits: DEFAULT_LIMITS },
  });
  const client = new AbortController();
  const open = (query: EventQuery): Promise<Response> => {
    const req = { header: () => undefined, raw: { signal: client.signal } };
    return stream.open({ req, env: {} } as unknown as ServerRequest, caller, query);
  };

  for (const name of MINE) await change(name);
  const [first] = await rows(store);
  const slow = await open({ after: first?.id, prefix: 'mine' }); // has its last page before it, and takes nothing yet
  const followed = ids(await open({}), (seen) => seen.length >= 2 * BIG_CHANGES + 4);
  await change('mine/between');
  for (let n = 0; n < BIG_CHANGES; n += 1) await change(BIG);
  await change('mine/last');
  await followed; // the hub has seen them all, and keeps only the end
  const all = (await rows(store)).slice(1).filter(({ resource }) => resource?.startsWith('mine/'));
  const expected = all.map(({ id }) => id);
  expect(await ids(slow, (seen) => seen.at(-1) === expected.at(-1))).toEqual(expected);
  client.abort();
  await leases.shutdown();
});

/** The ids of events up to a state of things. */
async function ids({ body }: Response, isDone: (seen: readonly string[]) => boolean): Promise<string[]> {
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const decoder = new TextDecoder();
  const seen: string[] = [];
  while (!isDone(seen)) {
    const { done, value } = await reader.read();
    if (done) break;
    // What is sent is whole events.
    for (const [, id = ''] of decoder.decode(value).matchAll(/^id: (\S+)\ndata: /gm)) seen.push(id);
  }
  return seen;
}
