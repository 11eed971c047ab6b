// The code that ships, over the model, in worlds where everything goes wrong and then heals. A failure is a seed:
// SEED=n (with KIND=stream …) repeats one world and prints its story, STORY=file a world that a failing run wrote down;
// SEEDS=k runs another number of them, FIRST=n begins elsewhere.
import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Batch, BatchResult, Failure } from './batch.js';
import { asked, type Asked } from './asked.js';
import { SeedsPool } from './seeds-pool.js';
import { currentCommit, otherCommitText, readStory, writeStory } from './story.js';
import { KINDS, runOrder, share, type Kind, type WorldOrder } from './worlds.js';

const BATCH = 25;
const PARTS = 8;
const wanted: Asked = asked(process.env);

const RULES: Readonly<Record<Kind, string>> = {
  leases: 'S1, S2, S7, S9, Q1, Q2 after every event, and everybody finishes',
  stream: 'N1 to N5, V1, V2: a stream in such worlds, after every event and at the end',
  served: 'W2, S1, S2, S7, S9, Q1, Q2: the same through a server that is stopped, killed and started again',
  'served-stream': 'W2, N1 to N5: a stream through such a server',
  spool: 'V7, N1 to N5: a stream whose results wait in a spool while the store is away',
};

function failureText({ order: { kind, seed }, message, story, shrunk }: Failure): string {
  const path = join(tmpdir(), `holdfast-story-${kind}-${seed}.json`);
  writeStory(path, { commit: currentCommit(), message: shrunk.message, order: shrunk.order });
  const isStream = kind === 'leases' ? '' : ` KIND=${kind}`;
  return [
    message,
    `repeat it: SEED=${seed}${isStream} make simulate (at commit ${currentCommit()})`,
    story,
    `the shortest story after ${shrunk.tried} attempts: ${shrunk.message}`,
    `repeat it: STORY=${path} make simulate`,
    shrunk.story,
  ].join('\n\n');
}

async function tell(order: WorldOrder): Promise<void> {
  const { finding, story, events, grants } = await runOrder(order, true);
  process.stdout.write(`${story()}\n${events} events, ${grants} grants or commits\n`);
  if (finding) expect.fail(`${finding.message}\n\nrepeat it: SEED=${order.seed} KIND=${order.kind} make simulate`);
}

describe.runIf(wanted.what === 'one')('one world', () => {
  test('as it was asked for', async () => {
    if (wanted.what !== 'one') return;
    if (wanted.order) return tell(wanted.order);
    const story = readStory(wanted.story);
    const warning = otherCommitText(story, currentCommit());
    if (warning !== undefined) process.stdout.write(`${warning}\n`);
    return tell(story.order);
  });
});

describe.runIf(wanted.what === 'many')('many worlds', () => {
  const { first, count } = wanted.what === 'many' ? wanted : { first: 1, count: 0 };
  const begun = process.hrtime.bigint();
  const sums = { events: 0, grants: 0, commits: 0, virtualSeconds: 0, cpuSeconds: 0 };
  const worlds: Record<string, number> = {};
  const findings: { kind: Kind; seed: number; message: string }[] = [];
  let pool: SeedsPool;
  beforeAll(async () => {
    pool = await SeedsPool.start();
  });
  afterAll(async () => {
    await pool.stop();
    report();
  });

  /** For `make prove`. */
  function report(): void {
    const path = process.env['SIMULATION_REPORT'];
    if (path === undefined || path === '') return;
    const { leases = 0, stream = 0, served = 0, spool = 0 } = worlds;
    const seconds = Math.round(Number(process.hrtime.bigint() - begun) / 1e9);
    const parts = { worlds: leases, streamWorlds: stream, servedWorlds: served, spoolWorlds: spool };
    const servedStreamWorlds = worlds['served-stream'] ?? 0;
    for (const key of ['virtualSeconds', 'cpuSeconds'] as const) sums[key] = Math.round(sums[key]);
    const all = {
      part: 'simulation',
      commit: currentCommit(),
      first,
      ...parts,
      servedStreamWorlds,
      ...sums,
      seconds,
      findings,
    };
    writeFileSync(path, `${JSON.stringify(all, null, 2)}\n`);
  }

  function add(kind: Kind, { worlds: many, events, grants, virtualMs, cpuMs, failure }: BatchResult): void {
    worlds[kind] = (worlds[kind] ?? 0) + many;
    sums.events += events;
    sums.virtualSeconds += virtualMs / 1_000;
    sums.cpuSeconds += cpuMs / 1_000;
    if (kind === 'leases' || kind === 'served') sums.grants += grants;
    else sums.commits += grants;
    if (failure) findings.push({ kind, seed: failure.order.seed, message: failure.message });
  }

  for (const kind of KINDS) {
    describe(RULES[kind], () => {
      const many = share(kind, count);
      const parts = kind === 'leases' ? Math.min(PARTS, many) : 1;
      for (let part = 0; part < parts; part += 1) {
        const from = first + Math.floor((many * part) / parts);
        const to = first + Math.floor((many * (part + 1)) / parts) - 1;
        test(`seeds ${from} to ${to}`, { timeout: 600_000 }, async () => {
          const results = await pool.run(batchesOf(kind, from, to));
          for (const result of results) add(kind, result);
          const [failure] = results
            .flatMap((result) => result.failure ?? [])
            .sort((a, b) => a.order.seed - b.order.seed);
          if (failure) expect.fail(failureText(failure));
          const grants = results.reduce((sum, result) => sum + result.grants, 0);
          expect(grants).toBeGreaterThan(to - from); // worlds in which nothing is ever granted would show nothing
        });
      }
    });
  }
});

function batchesOf(kind: Kind, from: number, to: number): Batch[] {
  const batches: Batch[] = [];
  for (let first = from; first <= to; first += BATCH)
    batches.push({ kind, first, last: Math.min(first + BATCH - 1, to) });
  return batches;
}
