// From figures to rows of the results: for each measure, store and concurrency our figure, the best of the peers there, and the
// figures of everybody who keeps locks in that store. Bare statements and connection locks stand beside and are nobody's best.

/** What is compared: the field, its unit, whether less is better, and a sentence for the tables. */
export const MEASURES = {
  uncontended: { field: 'perSecond', unit: 'pairs/s', isLess: false, name: 'acquire + release, names of their own' },
  contended: { field: 'perSecond', unit: 'pairs/s', isLess: false, name: 'acquire + release, in line for one name' },
  release: { field: 'median', unit: 'ms', isLess: true, name: 'hand-over after a release, median' },
  kill: { field: 'worst', unit: 'ms', isLess: true, name: 'hand-over after SIGKILL of the holder, worst' },
  stop: { field: 'worst', unit: 'ms', isLess: true, name: 'hand-over after SIGSTOP of the holder, worst' },
  frozen: { field: 'worst', unit: 'ms', isLess: true, name: 'frozen store to loss signal, worst' },
  renewals: { field: 'calls', unit: 'calls', isLess: true, name: 'calls to renew 10,000 held once' },
  growth: { field: 'ratio', unit: 'of an empty store', isLess: false, name: 'acquire + release beside 1,000,000' },
  heap: { field: 'bytes', unit: 'bytes', isLess: true, name: 'memory of a held lock' },
};
/** Where a lock can be lost: the shortest time that all of them take (etcd and proper-lockfile do not go below), and how long we look. */
export const TTL_MS = 2_000;
export const PATIENCE_MS = 3 * TTL_MS;
const OURS = 'holdfast';

export function publicRows(figures, contenders) {
  const rows = [];
  for (const measure of Object.keys(MEASURES)) {
    const ofMeasure = figures.filter((one) => one.measure === measure);
    const levels = [...new Set(ofMeasure.map(({ concurrency = 1 }) => concurrency))];
    for (const store of [...new Set(contenders.map((one) => one.store))]) {
      for (const concurrency of levels) rows.push(...rowOf(measure, store, concurrency, ofMeasure, contenders));
    }
  }
  return rows;
}

function rowOf(measure, store, concurrency, figures, contenders) {
  const { field, unit, isLess, name } = MEASURES[measure];
  const beside = contenders
    .filter((one) => one.store === store)
    .map((one) => ({
      ...one,
      figure: figures.find((it) => it.contender === one.id && (it.concurrency ?? 1) === concurrency),
    }));
  if (beside.every(({ figure }) => figure === undefined)) return [];
  const value = ({ figure }) => figure?.[field] ?? null;
  const mine = beside.find(({ who }) => who === OURS);
  const peers = beside.filter((one) => one.who !== OURS && !one.isBare && value(one) !== null);
  peers.sort((a, b) => (isLess ? value(a) - value(b) : value(b) - value(a)));
  const [best] = peers;
  const [ours, baseline] = [value(mine), best ? value(best) : null];
  return [
    {
      ...{ name, store, concurrency, ours: rounded(ours), baseline: rounded(baseline), baselineName: best?.who ?? '' },
      ...{ unit, ratio: ours === null || !baseline ? '-' : rounded(ours / baseline), target: '-', met: true },
      ...{ measure, isPeerAhead: isAhead(ours, baseline, isLess) },
      figures: beside.map(({ id, who, isBare = false, settings, dashes, figure }) => ({
        ...{ id, who, isBare, settings },
        ...(figure === undefined ? { dash: dashes[measure] ?? 'not measured' } : roundedAll(figure)),
      })),
    },
  ];
}

/** A peer is ahead when its figure is better, by whatever little. */
function isAhead(ours, baseline, isLess) {
  if (ours === null || baseline === null) return false;
  return isLess ? baseline < ours : baseline > ours;
}

function roundedAll(figure) {
  const known = Object.entries(figure).filter(([name]) => !['contender', 'measure', 'concurrency'].includes(name));
  return Object.fromEntries(known.map(([name, value]) => [name, rounded(value)]));
}

function rounded(value) {
  return typeof value === 'number' ? Number(value.toPrecision(4)) : value;
}
