// Measuring by ratio: two ways of doing a thing alternate in one run and their medians are compared, because the machine
// is noisy and a figure from another minute says little.

/** Rounds of `work(round)` for each of several ways, in turn; the median milliseconds of each. */
export async function alternate(rounds, ways) {
  const times = ways.map(() => []);
  for (let round = 0; round < rounds; round += 1) {
    for (const [i, work] of ways.entries()) {
      const start = performance.now();
      await work(round);
      times[i].push(performance.now() - start);
    }
  }
  return times.map(median);
}

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Of values in ascending order: the smallest that is not below this share of them. */
export function percentile(sorted, share) {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}

/** A row of the report. `ratio` is compared with `target` (null: nothing is asked); `atMost` says in which direction. */
export function row({ name, store, concurrency, ours, baseline, baselineName, unit, ratio, target, atMost = false }) {
  const rounded = (value) => (value === null ? null : Number(value.toPrecision(4)));
  const met = target === null || (atMost ? ratio <= target : ratio >= target);
  return {
    name,
    store,
    concurrency,
    ours: rounded(ours),
    baseline: rounded(baseline),
    baselineName,
    unit,
    ratio: rounded(ratio),
    target: target === null ? '-' : `${atMost ? '<=' : '>='} ${target}`,
    met,
  };
}

/** A figure that stands beside the others: nothing is asked of it. */
export function shown({ name, store, concurrency, figures, unit }) {
  const text = figures
    .map((value) => (typeof value === 'number' ? String(Number(value.toPrecision(4))) : value))
    .join('; ');
  return {
    name,
    store,
    concurrency,
    ours: text,
    baseline: null,
    baselineName: '',
    unit,
    ratio: '-',
    target: '-',
    met: true,
  };
}

/** Collects rows and says each as soon as it is there: a run of several minutes that fails late has still told something. */
export function collect(say) {
  const rows = [];
  const add = (more) => {
    for (const one of more) say(`${one.name}, ${one.concurrency} at once: ${one.ours} ${one.unit}, ratio ${one.ratio}`);
    rows.push(...more);
  };
  return { rows, add };
}

export function table(rows) {
  const head = ['what', 'store', 'at once', 'ours', 'baseline', 'unit', 'ratio', 'target', 'met'];
  const cells = rows.map((one) => [
    one.name,
    one.store,
    String(one.concurrency),
    String(one.ours ?? '-'),
    one.baseline === null ? '-' : `${one.baseline} (${one.baselineName})`,
    one.unit,
    String(one.ratio),
    one.target,
    one.target === '-' ? '-' : one.met ? 'yes' : 'NO',
  ]);
  const widths = head.map((title, i) => Math.max(title.length, ...cells.map((line) => line[i].length)));
  const line = (texts) => `| ${texts.map((text, i) => text.padEnd(widths[i])).join(' | ')} |`;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...cells.map(line)].join('\n');
}
