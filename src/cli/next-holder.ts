// Who takes over after a revocation (C5, `--next`): looks at the name a few times a second until somebody new holds it.
import type { Holdfast, LeaseRecord } from '../index.js';
import type { Clock } from '../domain/clock.js';

const LOOK_MS = 100;

/** The first holder with an epoch above `epoch`, or undefined when nobody came in time. */
export async function nextHolder(
  leases: Holdfast,
  clock: Clock,
  wanted: { resource: string; aboveEpoch: number; withinMs: number },
  end: AbortSignal,
): Promise<LeaseRecord | undefined> {
  const until = clock.monotonic() + wanted.withinMs;
  for (;;) {
    const { holders } = await leases.show(wanted.resource, { history: 0 });
    const next = holders.find(({ epoch }) => epoch > wanted.aboveEpoch);
    const left = until - clock.monotonic();
    if (next || left <= 0 || end.aborted) return next;
    await new Promise<void>((resolve) => {
      clock.after(Math.min(LOOK_MS, left), resolve, true);
    });
  }
}
