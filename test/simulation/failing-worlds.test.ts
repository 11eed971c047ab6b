// What somebody who meets a failing world is given: a clear word about a wrong question, the shortest story that can be found,
// and a file that says at which commit it was so.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { asked } from './asked.js';
import { runSeed, type SeedResult } from './run-seed.js';
import { shrink } from './shrink.js';
import { currentCommit, otherCommitText, readStory, writeStory } from './story.js';
import type { WorldOrder } from './worlds.js';

describe('what is asked for', () => {
  test('many worlds, or one', () => {
    expect(asked({})).toEqual({ what: 'many', first: 1, count: 20_000 });
    expect(asked({ SEEDS: '5', FIRST: '70' })).toEqual({ what: 'many', first: 70, count: 5 });
    expect(asked({ SEED: '7' })).toEqual({ what: 'one', order: { kind: 'leases', seed: 7 } });
    expect(asked({ SEED: '7', KIND: 'spool' })).toEqual({ what: 'one', order: { kind: 'spool', seed: 7 } });
    expect(asked({ STORY: 'a.json' })).toEqual({ what: 'one', story: 'a.json' });
  });

  test.each([
    [{ SEED: 'abc' }, 'SEED is a whole number from 0 to 4294967295, got "abc"'],
    [{ SEED: '-1' }, 'SEED is a whole number from 0 to 4294967295, got "-1"'],
    [{ SEED: '4294967296' }, 'SEED is a whole number from 0 to 4294967295, got "4294967296"'],
    [{ SEEDS: '0' }, 'SEEDS is a whole number from 1 to 4294967295, got "0"'],
    [{ SEED: '1', KIND: 'lease' }, 'KIND is one of leases, stream, served, served-stream, spool, got "lease"'],
    [{ KIND: 'spool' }, 'KIND says which world of a SEED is meant: give both'],
    [{ SEED: '1', STORY: 'a.json' }, 'SEED names one world and STORY another: give one of them'],
  ])('%j is refused', (environment, message) => {
    expect(() => asked(environment)).toThrow(message);
  });
});

describe('a story that is written down', () => {
  const folder = temporaryFolder();
  afterAll(() => folder.remove());

  test('is read again as it was', () => {
    const path = join(folder.path, 'story.json');
    const order: WorldOrder = { kind: 'stream', seed: 3, profile: { steps: 1, chaosMs: Infinity } };
    writeStory(path, { commit: 'abc123', message: 'N4: it changed', order });
    expect(readStory(path)).toEqual({ commit: 'abc123', message: 'N4: it changed', order });
  });

  test('of another commit says so', () => {
    expect(otherCommitText({ commit: 'abc123' }, 'def456')).toContain('recorded at commit abc123, and this is def456');
    expect(otherCommitText({ commit: 'abc123' }, 'abc123')).toBeUndefined();
    expect(currentCommit()).toMatch(/^(?:[0-9a-f]{12}\+?|unknown)$/);
  });

  test.each(['no json', '{}', '{"commit":"a","message":"b","order":{"kind":"lease","seed":1}}', 'null'])(
    '%s is no story',
    (text) => {
      const path = join(folder.path, 'wrong.json');
      writeFileSync(path, text);
      expect(() => readStory(path)).toThrow('name a file that a failing run wrote');
    },
  );
});

describe('a world that fails', () => {
  /** Clocks that drift further than the margin covers. */
  const run = (order: WorldOrder): Promise<SeedResult> =>
    runSeed(order.seed, () => ({ profile: { ...order.profile, ppm: 300_000 } }));

  test(
    'S7: is shrunk to a short one that fails by the same rule, the same every time',
    { timeout: 120_000 },
    async () => {
      let seed = 1;
      let found = await run({ kind: 'leases', seed });
      while (!found.finding?.message.startsWith('S7')) found = await run({ kind: 'leases', seed: (seed += 1) });
      const small = await shrink({ kind: 'leases', seed }, found, run);
      expect(small.result.finding?.message).toMatch(/^S7: /);
      expect(small.result.events).toBeLessThan(found.events / 3);
      const again = await run(small.order);
      expect(again.finding?.message).toBe(small.result.finding?.message);
      const twice = await shrink({ kind: 'leases', seed }, found, run);
      expect(twice.order).toEqual(small.order);
    },
  );
});
