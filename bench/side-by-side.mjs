// Pairs per second, ours and others', in one run: everything is warm before it is measured, rounds alternate, medians count.
import { alternate, row, shown } from './measure.mjs';
import { inParallel } from './port.mjs';
import { scaled } from './scale.mjs';

const ROUNDS = scaled(11, 3);
/** So many pairs of each, and the compiler is done with what they go through; after 1,500 it was not. */
const WARM_UP = scaled(6_000, 300);
const PAIRS = [
  [1, 300],
  [32, 3_000],
];

/** Ours against the best of the others at each concurrency; `targets` are pairs of a concurrency and the ratio that is asked, or none. */
export async function sideBySide({ name, store, ours, others, targets, pairsAt, ...rest }) {
  const rows = [];
  for (const [concurrency, target] of targets) {
    const pairs = pairsAt(concurrency);
    const ways = [ours, ...others].map(
      ({ pair }) =>
        () =>
          inParallel(pairs, concurrency, pair),
    );
    for (const { pair } of [ours, ...others]) await inParallel(Math.max(pairs, WARM_UP), concurrency, pair);
    const [ourMs, ...otherMs] = await alternate(rest.rounds ?? ROUNDS, ways);
    const rate = (ms) => (pairs / ms) * 1_000;
    const best = otherMs.indexOf(Math.min(...otherMs));
    const common = { name, store, concurrency, unit: 'pairs/s' };
    const ratio = otherMs[best] / ourMs;
    const figures = { ours: rate(ourMs), baseline: rate(otherMs[best]), baselineName: others[best].name, ratio };
    rows.push(row({ ...common, ...figures, target }));
    if (others.length > 1) {
      const each = others.map((other, i) => `${other.name} ${Math.round(rate(otherMs[i]))}`);
      rows.push(shown({ ...common, name: `${name}: each of the others`, figures: each }));
    }
  }
  return rows;
}

/** What a manager adds: `tryAcquire` and `release`, as a program would call them. */
export function managed(leases) {
  return {
    name: 'the manager',
    pair: async (i) => {
      const attempt = await leases.tryAcquire(`managed/${i % 1_000}`);
      if (!attempt.ok) throw new Error(`managed/${i % 1_000}: ${attempt.refusal.reason}`);
      await attempt.lease.release();
    },
  };
}

/** Beside a million leases that stand, against an empty store on a server of its own with the same settings. */
export async function growth(store, empty, full, options = {}) {
  const { pairs: each = PAIRS, target = 0.8, baselineName = 'empty store' } = options;
  const rows = [];
  for (const [concurrency, pairs] of each) {
    const ways = [empty, full].map((port) => () => inParallel(pairs, concurrency, (i) => port.pair(i)));
    for (const way of ways) await way();
    const [emptyMs, fullMs] = await alternate(ROUNDS, ways);
    rows.push(
      row({
        name: 'acquire + release beside 1,000,000 leases',
        store,
        concurrency,
        ours: (pairs / fullMs) * 1_000,
        baseline: (pairs / emptyMs) * 1_000,
        baselineName,
        unit: 'pairs/s',
        ratio: emptyMs / fullMs,
        target,
      }),
    );
  }
  return rows;
}
