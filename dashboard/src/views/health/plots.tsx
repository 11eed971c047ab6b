// The last minutes, drawn: six small plots over one axis of time. All samples come from the server, which keeps an hour of
// them: a page that was opened just now shows what came before.
import { useMemo } from 'preact/hooks';
import type { Figures } from '../../api/types.js';
import { place, setQuery } from '../../router.js';
import { useAsked } from '../../state/asked.js';
import { Button, ErrorNote, Loading } from '../../ui/parts.js';
import { spanText } from '../../ui/time-text.js';
import { figures, readFigures } from './figures.js';
import type { Unit } from './figure-text.js';
import { Plot } from './plot.js';
import { gaugeOf, latenessOf, rateOf, timesOf, withHoles, type Line } from './series.js';

const EVERY_MS = 5_000;
const RANGES = { '15m': { ms: 15 * 60_000, words: '15 min' }, '1h': { ms: 3_600_000, words: 'hour' } } as const;
type Range = keyof typeof RANGES;
/** Less than this is not worth a word about its beginning. */
const YOUNG_MS = 60_000;

export interface PlotLine {
  readonly name: string;
  readonly tone: 'accent' | 'bad' | 'warn';
  readonly values: Line;
}
export interface PlotData {
  readonly title: string;
  readonly about: string;
  readonly unit: Unit;
  /** The first is what the plot is about. */
  readonly lines: readonly PlotLine[];
  readonly isDotted?: boolean;
}

export function Plots() {
  const { error, again } = useAsked('figures', readFigures, { everyMs: EVERY_MS });
  const range: Range = place.value.query['range'] === '1h' ? '1h' : '15m';
  const known = figures.value;
  return (
    <section class="plots" aria-label="What happened lately">
      <header>
        <h2>The last {RANGES[range].words}</h2>
        <Beginning known={known} rangeMs={RANGES[range].ms} />
        <div class="ranges" role="group" aria-label="How much time">
          {(Object.keys(RANGES) as Range[]).map((one) => (
            <Button
              key={one}
              kind="quiet"
              aria-pressed={one === range}
              onClick={() => setQuery({ range: one === '15m' ? undefined : one })}
            >
              {RANGES[one].words === 'hour' ? '1 h' : RANGES[one].words}
            </Button>
          ))}
        </div>
      </header>
      {error !== undefined && <ErrorNote error={error} onRetry={again} />}
      {known === undefined ? error === undefined && <Loading /> : <Grid known={known} range={range} />}
    </section>
  );
}

function Beginning({ known, rangeMs }: { readonly known: Figures | undefined; readonly rangeMs: number }) {
  const [first] = known?.items ?? [];
  if (!known) return null;
  if (!first) return <span class="muted">The server has just begun to count: the first figures come in a moment.</span>;
  const spanMs = Date.parse(known.items.at(-1)?.at ?? first.at) - Date.parse(first.at);
  if (spanMs >= rangeMs - YOUNG_MS) return null;
  return <span class="muted">This server began to count {spanText(spanMs)} ago.</span>;
}

function Grid({ known, range }: { readonly known: Figures; readonly range: Range }) {
  const { times, plots } = useMemo(() => plotsOf(known), [known]);
  const { ms, words } = RANGES[range];
  const end = times.at(-1) ?? 0;
  return (
    <div class="grid">
      {plots.map((data) => (
        <Plot key={data.title} data={data} times={times} from={end - ms / 1_000} to={end} span={words} />
      ))}
    </div>
  );
}

function plotsOf(known: Figures): { readonly times: readonly number[]; readonly plots: readonly PlotData[] } {
  const places = withHoles(known);
  const rate = (name: string, key: Parameters<typeof rateOf>[1], tone: PlotLine['tone'] = 'accent'): PlotLine => ({
    name,
    tone,
    values: rateOf(places, key),
  });
  return {
    times: timesOf(places),
    plots: [
      {
        title: 'Acquisitions',
        about: 'leases granted, and waits that failed',
        unit: 'rate',
        lines: [rate('granted', 'acquired'), rate('failed', 'failed', 'bad')],
      },
      {
        title: 'Refusals',
        about: 'told to come back by the lease routes of this server',
        unit: 'rate',
        lines: [rate('refused', 'refused')],
      },
      {
        title: 'Waits',
        about: 'requests in a queue',
        unit: 'count',
        lines: [{ name: 'waiting', tone: 'accent', values: gaugeOf(places, 'waiting') }],
      },
      {
        title: 'Renewals',
        about: 'by the lease routes of this server; clients of the library count their own',
        unit: 'rate',
        lines: [rate('renewed', 'renewed'), rate('failed', 'renewalsFailed', 'bad')],
      },
      {
        title: 'Expiries',
        about: 'ran out instead of being given back',
        unit: 'rate',
        lines: [rate('expired', 'expired', 'warn')],
      },
      {
        title: 'Overruns',
        about: 'how late an expiry was dealt with, on average',
        unit: 'span',
        isDotted: true,
        lines: [{ name: 'late by', tone: 'warn', values: latenessOf(places) }],
      },
    ],
  };
}
