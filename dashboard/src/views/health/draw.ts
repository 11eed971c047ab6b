// The only file that knows uPlot. Colours are the theme's: they are asked for at every draw, through an element that wears
// them, because a canvas cannot read `light-dark()`. Nothing moves by itself: a plot is drawn again when there is a sample.
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { figureText, numberText } from './figure-text.js';
import type { PlotData } from './plots.js';

export interface Shown {
  readonly data: PlotData;
  readonly times: readonly number[];
  readonly from: number;
  readonly to: number;
}
export interface Drawing {
  show(shown: Shown): void;
  recolour(): void;
  end(): void;
}

const HEIGHT = 118;
/** The top of a scale, a second. */
const BUSY = 1.5;
const CURSORS = uPlot.sync('health');
const HOURS = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });

export function draw(host: HTMLElement, data: PlotData, onPoint: (index: number | undefined) => void): Drawing {
  const colour = colours(host);
  let shown: Shown = { data, times: [], from: 0, to: 1 };
  const font = `11px ${getComputedStyle(host).fontFamily}`;
  const axis = { stroke: () => colour('--muted'), font, ticks: { show: false } } as const;
  const plot = new uPlot(
    {
      width: Math.max(1, host.clientWidth),
      height: HEIGHT,
      padding: [8, 18, 0, 0],
      legend: { show: false },
      cursor: {
        y: false,
        drag: { setScale: false, x: false, y: false },
        points: { size: 6 },
        sync: { key: CURSORS.key, setSeries: false },
      },
      scales: {
        x: { time: true, range: () => [shown.from, shown.to] },
        y: { range: (_, __, most) => [0, most > 0 ? most * 1.15 : 1] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          space: 64,
          size: 24,
          gap: 6,
          values: (_, splits) => splits.map((at) => HOURS.format(at * 1_000)),
        },
        {
          ...axis,
          grid: { stroke: () => colour('--line'), width: 1 },
          space: 34,
          size: 52,
          gap: 6,
          values: ({ scales }, splits) => splits.map((value) => tickText(value, shown.data, scales['y']?.max ?? 0)),
        },
      ],
      series: [
        {},
        ...data.lines.map(({ tone }, n): uPlot.Series => {
          const name = `--${tone}`;
          return {
            stroke: () => colour(name),
            width: 1.6,
            ...(n === 0 ? { fill: () => withAlpha(colour(name)) } : { dash: [4, 3] }),
            points: { show: data.isDotted === true, size: 4, fill: () => colour(name) },
          };
        }),
      ],
      hooks: {
        setCursor: [({ cursor }) => onPoint(cursor.idx ?? undefined)],
      },
    },
    [[], ...data.lines.map(() => [])] as unknown as uPlot.AlignedData,
    host,
  );
  const resized = new ResizeObserver(() => plot.setSize({ width: Math.max(1, host.clientWidth), height: HEIGHT }));
  resized.observe(host);
  const recolour = (): void => plot.redraw(false);
  const dark = globalThis.matchMedia('(prefers-color-scheme: dark)');
  dark.addEventListener('change', recolour);
  return {
    recolour,
    show: (next) => {
      shown = next;
      plot.setData([next.times, ...next.data.lines.map(({ values }) => values)] as unknown as uPlot.AlignedData);
    },
    end: () => {
      resized.disconnect();
      dark.removeEventListener('change', recolour);
      plot.destroy();
    },
  };
}

/** All ticks of one plot have one unit: a second where it is busy, a minute where it is not. */
function tickText(value: number, { unit }: PlotData, most: number): string {
  if (unit !== 'rate') return figureText(value, unit);
  return most >= BUSY ? `${numberText(value)}/s` : `${numberText(value * 60)}/min`;
}

function colours(host: HTMLElement): (name: string) => string {
  const probe = document.createElement('span');
  probe.hidden = true;
  host.append(probe);
  return (name) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
}

/** A hint of the line's colour below it. */
function withAlpha(colour: string): string {
  return colour.startsWith('rgb(') ? colour.replace('rgb(', 'rgba(').replace(')', ', 0.1)') : 'transparent';
}
