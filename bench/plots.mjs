// The plots of docs/benchmarks.md, drawn from the rows of the public comparison: a Map from file name to SVG text.
import { PATIENCE_MS, TTL_MS } from './public/rows.mjs';
import { barChart } from './svg.mjs';

const ms = (value) => `${figure(value)} ms`;

export function drawPlots(rows) {
  const of = (measure, concurrency) =>
    rows.filter((row) => row.measure === measure && (concurrency === undefined || row.concurrency === concurrency));
  const chart = (name, drawing) => [name, barChart(drawing)];
  if (of('uncontended').length === 0) return new Map();
  return new Map([
    chart('throughput.svg', {
      title: 'Acquire + release, each caller a name of its own: pairs per second (more is better)',
      axis: 'pairs per second, logarithmic',
      series: ['1 at once', '32 at once', '256 at once'],
      groups: byContender(
        [1, 32, 256].map((n) => of('uncontended', n)),
        'perSecond',
        figure,
      ),
    }),
    ...latencies(
      'latency.svg',
      'Acquire + release, 32 callers, names of their own: how long a pair takes',
      of('uncontended', 32),
    ),
    ...latencies(
      'waiting.svg',
      'Acquire + release, 32 callers in line for one name: how long a turn takes',
      of('contended', 32),
    ),
    chart('hand-over.svg', {
      title: 'From release() in one process to another process that holds (less is better)',
      axis: 'milliseconds, logarithmic',
      series: ['median', 'worst'],
      groups: byField(of('release'), ['median', 'worst'], ms),
    }),
    chart('takeover.svg', {
      title: `From losing the holder to another process that holds, ttl ${TTL_MS / 1_000} s: worst (less is better)`,
      axis: 'milliseconds',
      series: ['after SIGKILL', 'after SIGSTOP'],
      groups: byContender([of('kill'), of('stop')], 'worst', ms),
      isLog: false,
      mark: { value: TTL_MS, text: 'ttl' },
    }),
    chart('loss.svg', {
      title: `From freezing the store until the holder is told, ttl ${TTL_MS / 1_000} s: worst (less is better)`,
      axis: 'milliseconds',
      series: ['worst'],
      groups: byField(of('frozen'), ['worst'], ms),
      isLog: false,
      mark: { value: TTL_MS, text: 'ttl: another may hold' },
    }),
    chart('renewals.svg', {
      title: 'Calls that renew 10,000 held locks once (less is better)',
      axis: 'calls to the store, logarithmic',
      series: ['calls'],
      groups: byField(of('renewals'), ['calls'], figure),
    }),
    chart('growth.svg', {
      title: 'Acquire + release beside 1,000,000 locks, against an empty store (1 is unchanged)',
      axis: 'pairs per second, as a share of those of an empty store',
      series: ['share'],
      groups: byField(of('growth'), ['ratio'], figure),
      isLog: false,
      mark: { value: 1, text: 'as an empty store' },
    }),
    chart('memory.svg', {
      title: 'Memory of one held lock in its process (less is better)',
      axis: 'bytes of heap and buffers, 10,000 held, logarithmic',
      series: ['bytes'],
      groups: byField(of('heap'), ['bytes'], figure),
    }),
  ]);
}

function latencies(name, title, rows) {
  const groups = byField(rows, ['p50', 'p99'], ms);
  return [
    [
      name,
      barChart({
        title: `${title} (less is better)`,
        axis: 'milliseconds, logarithmic',
        series: ['p50', 'p99'],
        groups,
      }),
    ],
  ];
}

/** One bar for each of several fields of one row; who has none of them is left to the tables. */
function byField(rows, fields, text) {
  return rows.flatMap((row) =>
    row.figures
      .filter((one) => one.dash === undefined)
      .map((one) => ({ ...named(row, one), bars: fields.map((field) => barOf(one, one[field], text)) })),
  );
}

/** One bar for each of several lists of rows, matched by contender. */
function byContender(lists, field, text) {
  const groups = new Map();
  for (const [i, rows] of lists.entries()) {
    for (const row of rows) {
      for (const one of row.figures) {
        if (!groups.has(one.id)) groups.set(one.id, { ...named(row, one), bars: lists.map(() => ({ dash: true })) });
        if (one.dash === undefined) groups.get(one.id).bars[i] = barOf(one, one[field], text);
      }
    }
  }
  return [...groups.values()].filter(({ bars }) => bars.some(({ dash }) => !dash));
}

/** Nothing where something was asked for: it did not come for as long as we looked. */
function barOf(one, value, text) {
  if (value === undefined) return { dash: true };
  if (value === null) return { value: PATIENCE_MS, text: `not in ${PATIENCE_MS / 1_000} s`, isOpen: true };
  return { value, text: text(value) };
}

function named(row, { id, who }) {
  const where = id === 'etcd3' ? 'etcd' : row.store === 'sqlite' && who === 'proper-lockfile' ? 'files' : row.store;
  return { label: `${who} (${where})`, isOurs: who === 'holdfast' };
}

function figure(value) {
  return value >= 1_000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}
