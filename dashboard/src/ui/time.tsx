// A moment: how long ago by the store's clock, the exact time on hover. `Since` is a span that grows, `Remaining` is a lease on its way to its end.
import { useMemo } from 'preact/hooks';
import { tick } from '../state/time.js';
import { exactText, relativeText, spanText } from './time-text.js';

/** Formatting a date costs more than drawing it: once for each, not once a second. */
function useExact(iso: string): string {
  return useMemo(() => exactText(iso), [iso]);
}

export function Time({ at }: { readonly at: string }) {
  const now = tick.value;
  return (
    <time dateTime={at} title={useExact(at)}>
      {now === 0 ? '…' : relativeText(Date.parse(at), now)}
    </time>
  );
}

/** How long it has been since, for what goes on: '12 s'. */
export function Since({ at }: { readonly at: string }) {
  const now = tick.value;
  return (
    <time dateTime={at} title={`since ${useExact(at)}`}>
      {now === 0 ? '…' : spanText(now - Date.parse(at))}
    </time>
  );
}

export interface RemainingProps {
  readonly expiresAt: string;
  readonly ttlMs: number;
}

/** Holders renew long before this; below it something may be wrong. */
const LOW = 0.2;

export function Remaining({ expiresAt, ttlMs }: RemainingProps) {
  const now = tick.value;
  const leftMs = now === 0 ? ttlMs : Date.parse(expiresAt) - now;
  const share = Math.min(1, Math.max(0, leftMs / Math.max(1, ttlMs)));
  const isOver = leftMs <= 0;
  return (
    <span class="remaining" data-tone={share < LOW ? 'warn' : undefined} title={`until ${useExact(expiresAt)}`}>
      <span class="bar" aria-hidden="true">
        <i style={{ transform: `scaleX(${share.toFixed(4)})` }} />
      </span>
      <span class="left">{isOver ? 'run out' : spanText(leftMs)}</span>
    </span>
  );
}
