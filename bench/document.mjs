// docs/benchmarks.md between its markers: every figure there is written from bench/results.json, so that the document cannot drift
// from the results. `<!-- results: what -->` opens a part, `<!-- end of results -->` closes it; the prose around is by hand.
import { table } from './measure.mjs';
import { MEASURES, PATIENCE_MS } from './public/rows.mjs';

const PART = /(<!-- results: ([a-z]+) ([a-z]+) -->\n)[\s\S]*?(<!-- end of results -->)/g;
const STORES = { memory: 'one process', sqlite: 'one machine', postgres: 'a server that flushes', redis: 'Redis' };

/** The document with every part made again. */
export function withResults(text, kept) {
  const rows = kept.map((row) => ({ ...row, run: runOf(row) }));
  const short = rows.filter(({ run }) => run.isShort);
  if (short.length > 0) throw new Error(`${short[0].run.suite} was a short run (BENCH_SHORT): no document takes it`);
  return text.replace(PART, (_all, open, kind, what, close) => {
    const make = PARTS[kind];
    if (make === undefined) throw new Error(`docs/benchmarks.md asks for "${kind} ${what}", which is nothing`);
    return `${open}${make(what, rows)}\n${close}`;
  });
}

const PARTS = {
  suite: (name, rows) => of(name, rows, (own) => `${runText(own[0].run)}\n\n${table(own)}`),
  run: (name, rows) => of(name, rows, (own) => runText(own[0].run)),
  asked: (_name, rows) => askedText(rows.filter(({ target }) => target !== '-')),
  below: (name, rows) => of(name, rows, belowText),
  measure: (name, rows) => of('public', rows, (own) => measureTable(name, own)),
  ahead: (_name, rows) => of('public', rows, aheadText),
  settings: (_name, rows) => of('public', rows, settingsText),
};

/** A row of the first form of the file says only its suite, as its store. */
export function runOf({ run, store }) {
  return run ?? { suite: store, command: `make bench ONLY=${store}` };
}

function of(suite, rows, make) {
  const own = rows.filter(({ run }) => run.suite === suite);
  return own.length === 0 ? `Not measured yet: \`make bench ONLY=${suite}\`.` : make(own);
}

function runText({ command, date, commit, machine, versions, load, seconds }) {
  if (machine === undefined) return `\`${command}\`; kept before machine and versions were recorded.`;
  const list = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  const took = seconds === undefined ? '' : `, ${seconds} s`;
  const busy = load === undefined ? '' : `; load before it ${load}`;
  return `\`${command}\`, ${date.slice(0, 16).replace('T', ' ')} UTC, commit ${commit}${took}: ${machine}${busy}. ${list.join(', ')}.`;
}

/** All suites in one table, and how many of their rows are met. */
function askedText(rows) {
  if (rows.length === 0) return 'Not measured yet: `make bench`.';
  const met = rows.filter((row) => row.met).length;
  const lines = rows.map((row) => [
    ...[row.run.suite, row.name, String(row.concurrency), String(row.ratio === '-' ? row.ours : row.ratio), row.target],
    row.met ? 'yes' : '**no**',
  ]);
  const head = ['suite', 'what', 'at once', 'reached', 'asked', 'met'];
  return `${met} of ${rows.length} are met; what is not has its reason below.\n\n${markdown(head, lines)}`;
}

function belowText(rows) {
  const below = rows.filter(({ met }) => !met);
  if (below.length === 0) return 'Every row is at or above what was asked for.';
  return below
    .map((row) => `- ${row.name}, ${row.concurrency} at once: ${row.ratio}, asked for ${row.target}.`)
    .join('\n');
}

const LATENCY = [
  ['pairs/s', 'perSecond'],
  ['p50 ms', 'p50'],
  ['p99 ms', 'p99'],
  ['p999 ms', 'p999'],
];
const WAITS = [
  ['median ms', 'median'],
  ['worst ms', 'worst'],
  ['rounds', 'rounds'],
];
const COLUMNS = {
  uncontended: LATENCY,
  contended: [...LATENCY, ['longest ms', 'longest'], ['served', 'served']],
  release: WAITS,
  kill: WAITS,
  stop: WAITS,
  frozen: WAITS,
  renewals: [['calls', 'calls']],
  growth: [
    ['pairs/s beside 1,000,000', 'perSecond'],
    ['pairs/s alone', 'empty'],
    ['share', 'ratio'],
  ],
  heap: [['bytes', 'bytes']],
};

/** Everybody, by store; under the table the reason for each dash. */
function measureTable(measure, rows) {
  if (COLUMNS[measure] === undefined)
    throw new Error(`docs/benchmarks.md asks for the measure ${measure}, which is nothing`);
  const own = rows.filter((row) => row.measure === measure);
  const levels = [...new Set(own.map(({ concurrency }) => concurrency))];
  const isLevelled = ['uncontended', 'contended'].includes(measure);
  const notes = new Map();
  const note = (reason) => {
    if (!notes.has(reason)) notes.set(reason, notes.size + 1);
    return `– (${notes.get(reason)})`;
  };
  const columns = COLUMNS[measure];
  const head = ['store', 'who', ...(isLevelled ? ['at once'] : []), ...columns.map(([title]) => title)];
  const lines = [];
  for (const store of Object.keys(STORES)) {
    const ofStore = own.filter((row) => row.store === store);
    for (const { id, who } of ofStore[0]?.figures ?? []) {
      const all = ofStore.map((row) => [row, row.figures.find((figure) => figure.id === id)]);
      const isOut = all.every(([, figure]) => figure.dash !== undefined && figure.dash === all[0][1].dash);
      const shown = isOut ? all.slice(0, 1) : all;
      for (const [row, figure] of shown) {
        const level = isOut ? levels.join(', ') : String(row.concurrency);
        const cells =
          figure.dash === undefined
            ? columns.map(([, field]) => cell(figure, field, row))
            : columns.map(() => note(figure.dash));
        lines.push([STORES[store], bold(who), ...(isLevelled ? [level] : []), ...cells]);
      }
    }
  }
  const reasons = [...notes].map(([reason, number]) => `(${number}) ${reason}.`);
  return [markdown(head, lines), ...(reasons.length > 0 ? ['', reasons.join(' ')] : [])].join('\n');
}

function cell(figure, field, row) {
  const value = figure[field];
  if (field === 'served') return `${value} of ${row.concurrency}`;
  if (value === null && field === 'p999') return 'under 1,000 waits';
  if (value === null) return `never in ${PATIENCE_MS / 1_000} s (${figure.never} of ${figure.rounds})`;
  return number(value);
}

/** Where a peer is ahead of ours, said plainly. */
function aheadText(rows) {
  const compared = rows.filter(({ baseline, ours }) => baseline !== null && ours !== null);
  const ahead = compared.filter(({ isPeerAhead }) => isPeerAhead);
  const intro = `Of ${compared.length} comparisons with the best peer on the same kind of store, a peer is ahead in ${ahead.length}:`;
  const lines = ahead.map((row) => {
    const times = MEASURES[row.measure].isLess ? row.ours / row.baseline : row.baseline / row.ours;
    const where = `${STORES[row.store]}, ${row.name}${row.measure.endsWith('contended') ? `, ${row.concurrency} at once` : ''}`;
    const turns = row.measure === 'contended' ? `; in that time ${servedText(row)}` : '';
    return `- ${where}: ${row.baselineName} ${number(row.baseline)}, ours ${number(row.ours)} ${row.unit} (${number(times)} times)${turns}.`;
  });
  return ahead.length === 0 ? intro.replace(/:$/, '.') : [intro, '', ...lines].join('\n');
}

/** Pairs per second are no merit where one caller takes its own lock again and the others wait. */
function servedText({ figures, baselineName, concurrency }) {
  const served = (name) => figures.find(({ who }) => who === name).served;
  return `it served ${served(baselineName)} of ${concurrency} callers, ours ${served('holdfast')}`;
}

function settingsText(rows) {
  const seen = new Map();
  for (const { store, figures } of rows.filter(({ measure }) => measure === 'uncontended'))
    for (const { id, who, settings } of figures) seen.set(id, [STORES[store], bold(who), settings]);
  return markdown(['store', 'who', 'settings'], [...seen.values()]);
}

const bold = (who) => (who === 'holdfast' ? '**holdfast**' : who);

function number(value) {
  if (typeof value !== 'number') return String(value);
  return value >= 1_000 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(3)));
}

function markdown(head, lines) {
  const widths = head.map((title, i) => Math.max(title.length, ...lines.map((line) => line[i].length)));
  const text = (cells) => `| ${cells.map((one, i) => one.padEnd(widths[i])).join(' | ')} |`;
  return [text(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...lines.map(text)].join('\n');
}
