// Who had it, newest first: a bar for the eye, a sentence for everybody. Bars of all rows share one axis, from the first beginning that
// was read until now.
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { LeaseRecord } from '../../api/types.js';
import { tick } from '../../state/time.js';
import { Name } from '../../ui/name.js';
import { Button, Chip, Panel, type Tone } from '../../ui/parts.js';
import { exactText, spanText } from '../../ui/time-text.js';
import { Time } from '../../ui/time.js';
import type { ReadHistory } from '../history/use-history.js';
import { barsOf, spansOf, type Bar, type Span, type SpanEnd } from './timeline.js';

const FIRST = 12;

const ENDS: Readonly<Record<SpanEnd, readonly [string, Tone | undefined]>> = {
  held: ['held', 'accent'],
  released: ['released', undefined],
  expired: ['expired', 'warn'],
  revoked: ['revoked', 'bad'],
  delegated: ['handed on', undefined],
  upgraded: ['made exclusive', undefined],
  unknown: ['run out', 'warn'],
};

interface TimelineProps {
  readonly history: ReadHistory;
  readonly holders: readonly LeaseRecord[];
}

export function Timeline({ history, holders }: TimelineProps) {
  const most = useSignal(FIRST);
  const spans = useMemo(() => spansOf(history.items, holders), [history.items, holders]);
  const shown = spans.slice(0, most.value);
  const bars = barsOf(shown, tick.value);
  const isMore = spans.length > shown.length || history.cursor !== undefined;
  const more = (): void => {
    most.value += 50;
    if (most.value > spans.length) history.older();
  };
  if (spans.length === 0) return <></>;
  const [oldest] = shown.slice(-1);
  const start = oldest?.from ?? oldest?.to;
  return (
    <Panel title="Who had it" aside={start !== undefined && <Axis from={start} />}>
      <ol class="timeline">
        {shown.map((span) => (
          <li key={span.key}>
            <SpanRow span={span} bar={bars.get(span.key)} />
          </li>
        ))}
      </ol>
      {isMore && (
        <Button onClick={more} disabled={history.isAsking}>
          Show earlier ones
        </Button>
      )}
    </Panel>
  );
}

function Axis({ from }: { readonly from: number }) {
  return (
    <>
      from <Time at={new Date(from).toISOString()} /> until now
    </>
  );
}

function SpanRow({ span, bar }: { readonly span: Span; readonly bar: Bar | undefined }) {
  const { owner, epoch, end, reason, by, toOwner } = span;
  const [word, tone] = ENDS[end];
  return (
    <>
      <span class="who">
        <Name text={owner} most={32} />
        <span class="muted">epoch {epoch}</span>
      </span>
      <span class="track" aria-hidden="true">
        <i data-tone={tone} style={{ insetInlineStart: share(bar?.start), inlineSize: share(bar?.width) }} />
      </span>
      <span class="when">
        <SpanTime span={span} /> <Chip tone={tone}>{word}</Chip>
      </span>
      {(reason !== undefined || toOwner !== undefined) && (
        <span class="why muted">
          {toOwner !== undefined && (
            <>
              to <Name text={toOwner} most={32} />
            </>
          )}
          {by !== undefined && (
            <>
              by <Name text={by} most={32} />
              {': '}
            </>
          )}
          {reason !== undefined && <Name text={reason} most={120} />}
        </span>
      )}
    </>
  );
}

function SpanTime({ span: { from, to: told, end } }: { readonly span: Span }) {
  const now = tick.value;
  // Nothing has ended in the future: its end is only not known yet.
  const to = told === undefined ? undefined : Math.min(told, now);
  const isoOf = (at: number): string => new Date(at).toISOString();
  const title = `${from === undefined ? 'earlier' : exactText(isoOf(from))} – ${to === undefined ? 'now' : exactText(isoOf(to))}`;
  const length = from === undefined ? 'longer' : spanText((to ?? now) - from);
  return (
    <span title={title}>
      {end === 'held' ? `for ${length}` : length}
      {to !== undefined && (
        <span class="muted">
          , until <Time at={isoOf(to)} />
        </span>
      )}
    </span>
  );
}

function share(of = 0): string {
  return `${(of * 100).toFixed(2)}%`;
}
