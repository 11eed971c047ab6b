// One plot: its present value in large, the line, and a sentence for those who do not see it. What draws is loaded when the
// first plot appears; until then, and without it, the words are there.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { theme } from '../../ui/theme.js';
import type { Drawing } from './draw.js';
import { figureText, summaryText } from './figure-text.js';
import type { PlotData } from './plots.js';
import { summaryOf } from './series.js';

export interface PlotProps {
  readonly data: PlotData;
  readonly times: readonly number[];
  readonly from: number;
  readonly to: number;
  readonly span: string;
}

const CLOCK = new Intl.DateTimeFormat(undefined, {
  ...{ hour: '2-digit', minute: '2-digit', second: '2-digit', hourCycle: 'h23' },
});

export function Plot({ data, times, from, to, span }: PlotProps) {
  const host = useRef<HTMLDivElement>(null);
  const drawing = useRef<Drawing | undefined>(undefined);
  /** The sample the pointer is at. */
  const at = useSignal<number | undefined>(undefined);
  const latest = useRef({ data, times, from, to });
  latest.current = { data, times, from, to };
  useEffect(() => {
    let isGone = false;
    import('./draw.js')
      .then(({ draw }) => {
        if (isGone || !host.current) return;
        drawing.current = draw(host.current, latest.current.data, (index) => {
          at.value = index;
        });
        drawing.current.show(latest.current);
      })
      .catch(() => undefined); // the words are there without it
    return () => {
      isGone = true;
      drawing.current?.end();
    };
  }, []);
  useEffect(() => drawing.current?.show({ data, times, from, to }), [data, times, from, to]);
  useEffect(() => drawing.current?.recolour(), [theme.value]);
  const index = at.value;
  // Nobody is a fraction of a waiter: a count is that of the last sample.
  const presentS = data.unit === 'count' ? 1 : undefined;
  const hovered = index === undefined ? undefined : times[index];
  return (
    <figure class="plot">
      <figcaption>
        <h3>{data.title}</h3>
        <span class="muted">{hovered === undefined ? data.about : CLOCK.format(hovered * 1_000)}</span>
        <span class="visually-hidden">
          {data.lines
            .map(({ name, values }) => summaryText(name, summaryOf(times, values, from, presentS), data.unit, span))
            .join(' ')}
        </span>
      </figcaption>
      <dl aria-hidden="true">
        {data.lines.map(({ name, tone, values }) => {
          const value = index === undefined ? summaryOf(times, values, from, presentS)?.present : values[index];
          return (
            <div key={name} data-tone={(value ?? 0) > 0 ? tone : undefined}>
              <dt>{name}</dt>
              <dd>{value === undefined || value === null ? '–' : figureText(value, data.unit)}</dd>
            </div>
          );
        })}
      </dl>
      <div class="canvas" ref={host} aria-hidden="true" />
    </figure>
  );
}
