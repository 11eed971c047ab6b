// The simulation of streams can fail: each of these worlds is broken in one way on purpose, and a seed shows it.
import { describe, expect, test } from 'vitest';
import type { SequenceStore } from '../../src/stores/sequence-store.js';
import { MemoryStore } from '../../src/stores/memory/index.js';
import { CALM, QUIET } from './profile.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { runSequenceSeed } from './run-seed.js';
import type { SequenceSabotage } from './sequence-simulation.js';

const SEEDS = 60;

async function findingOf(sabotage: SequenceSabotage, spools?: string): Promise<string> {
  const withSpool = (): SequenceSabotage =>
    spools === undefined ? sabotage : { ...sabotage, spool: temporaryFolder(spools).path };
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { finding } = await runSequenceSeed(seed, withSpool);
    if (finding) return finding.message;
  }
  return 'nothing is found';
}

type Right = Pick<SequenceStore, 'read' | 'release' | 'streams'>;

/** A memory store some of whose methods about streams are wrong. */
function broken(wrong: (right: Right) => Partial<SequenceStore>): SequenceSabotage {
  return {
    store: (clock) => {
      const store = new MemoryStore({ clock });
      const { sequences } = store;
      const right = {
        read: sequences.read.bind(sequences),
        release: sequences.release.bind(sequences),
        streams: sequences.streams.bind(sequences),
      };
      Object.assign(sequences, wrong(right));
      return store;
    },
  };
}

describe('the simulation finds', () => {
  test.each<[string, RegExp, SequenceSabotage]>([
    [
      'N2: a commit that is answered and becomes a gap',
      /^N2: /,
      broken((right) => ({
        commit: async (requests) => {
          const released = await right.release(requests.map((one) => ({ ...one, reason: 'lost' })));
          const results = requests.map(() => ({ outcome: 'committed', first: 1, repeated: false }) as const);
          return { ...released, results };
        },
      })),
    ],
    [
      'N4: a read that shows and does not seal',
      /^N4: /,
      broken((right) => ({ read: (order) => right.read({ ...order, seal: false }) })),
    ],
    [
      'N3: a watermark that goes back',
      /^N3: /,
      broken((right) => {
        let count = 0;
        const read: SequenceStore['read'] = async (order) => {
          const page = await right.read(order);
          count += 1;
          return count % 5 === 0 ? { ...page, watermark: Math.max(0, page.watermark - 1) } : page;
        };
        return { read };
      }),
    ],
    [
      'N5: a reader that is never shown the last number',
      /^N5: /,
      {
        tamper: (call, _asked, answer) => {
          if (call !== 'sequence.read') return answer;
          const page = answer as Awaited<ReturnType<SequenceStore['read']>>;
          return { ...page, items: page.items.filter(({ number }) => number < page.watermark) };
        },
      },
    ],
  ])('%s', { timeout: 120_000 }, async (_what, message, sabotage) => {
    expect(await findingOf(sabotage)).toMatch(message);
  });
});

test(
  'the simulation finds V7: a result of a spool that is answered as stored, and is not',
  { timeout: 120_000 },
  async () => {
    const folder = temporaryFolder();
    const forgets = broken((right) => ({
      append: async (requests) => {
        const { streams: _streams, ...reply } = await right.streams({ limit: 1 });
        const results = requests.map(() => ({ outcome: 'stored', first: 1, how: 'moved' }) as const);
        return { ...reply, results };
      },
    }));
    const lossy = { ...CALM, lostReplyShare: 0.5, lostRequestShare: 0.5, givesUpMs: 100 };
    const away = { processes: 2, actors: 1, steps: 4, network: lossy, chaosMs: 8_000 };
    try {
      expect(await findingOf({ ...forgets, profile: { ...QUIET, ...away } }, folder.path)).toMatch(/^V7: /);
    } finally {
      folder.remove();
    }
  },
);
