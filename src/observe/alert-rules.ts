// The alerts of O3 as pure rules over samples of running sums, and what becomes of an alert when its rule is asked again.
//
//   ok ──its rule is broken──▶ pending ──for as long as the rule wants──▶ firing ──no longer broken──▶ ok
//
// Only the way into firing and out of it is told to anybody. ops/prometheus/rules.yml says the same for those who have one.

/** Running sums of a namespace as of a moment; `gaps` and `skewMs` are figures of that moment. */
export interface Sample {
  /** Store clock, milliseconds. */
  readonly at: number;
  readonly expiredLeases: number;
  readonly endedLeases: number;
  /** Leases and numbers. */
  readonly expired: number;
  readonly recovered: number;
  readonly recoveryFailures: number;
  readonly conflicts: number;
  readonly renewals: number;
  readonly renewalFailures: number;
  readonly acquisitions: number;
  readonly acquisitionFailures: number;
  readonly gaps: number;
  /** The largest, either way, of the processes that told theirs. */
  readonly skewMs: number;
}
export type Sums = Omit<Sample, 'at' | 'gaps' | 'skewMs'>;

export type Severity = 'warning' | 'critical';
export interface AlertRule {
  readonly name: string;
  readonly severity: Severity;
  readonly threshold: number;
  /** How long it must be broken before it is told. */
  readonly forMs: number;
  readonly summary: string;
  /** What is compared with the threshold. */
  readonly value: (samples: readonly Sample[], now: number, sweepMs: number) => number;
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

export const ALERT_RULES: readonly AlertRule[] = [
  {
    name: 'expiration-rate',
    severity: 'warning',
    threshold: 0.05,
    forMs: 0,
    summary: 'More than 5 % of the leases that ended in the last hour expired instead of being released',
    value: (samples, now) => share(since(samples, now - HOUR_MS), 'expiredLeases', 'endedLeases'),
  },
  {
    name: 'expiration-burst',
    severity: 'critical',
    threshold: 10,
    forMs: 0,
    summary: 'More than 10 leases expired within one sweep interval',
    value: (samples, now, sweepMs) => within(samples, now, sweepMs),
  },
  {
    name: 'recovery-failures',
    severity: 'warning',
    threshold: 0.01,
    forMs: 0,
    summary: 'More than 1 % of the recoveries of the last hour failed',
    value: (samples, now) => {
      const { recovered, recoveryFailures } = since(samples, now - HOUR_MS);
      return part(recoveryFailures, recovered + recoveryFailures);
    },
  },
  {
    name: 'sequence-gaps',
    severity: 'warning',
    threshold: 100,
    forMs: 0,
    summary: 'More than 100 numbers of streams are gaps',
    value: (samples, now) => highest(samples, now, 'gaps'),
  },
  {
    name: 'conflicts',
    severity: 'warning',
    threshold: 0.01,
    forMs: 2 * MINUTE_MS,
    summary: 'Stale epochs are met: somebody goes on as if it still held a lease',
    value: (samples, now) => since(samples, now - 5 * MINUTE_MS).conflicts / (5 * 60),
  },
  {
    name: 'renewal-failures',
    severity: 'warning',
    threshold: 0.1,
    forMs: 5 * MINUTE_MS,
    summary: 'More than 10 % of the renewals fail',
    value: (samples, now) => share(since(samples, now - 5 * MINUTE_MS), 'renewalFailures', 'renewals'),
  },
  {
    name: 'acquisition-failures',
    severity: 'warning',
    threshold: 0.2,
    forMs: 5 * MINUTE_MS,
    summary: 'More than 20 % of the acquires end in a timeout, a deadlock or an error',
    value: (samples, now) => share(since(samples, now - 5 * MINUTE_MS), 'acquisitionFailures', 'acquisitions'),
  },
  {
    name: 'clock-skew',
    severity: 'warning',
    threshold: 5,
    forMs: 0,
    summary: "A machine's clock and the store's differ by more than 5 s",
    value: (samples, now) => highest(samples, now, 'skewMs') / 1_000,
  },
];

/** How long samples are of use. */
export const SAMPLES_KEPT_MS = HOUR_MS + 5 * MINUTE_MS;

export interface AlertState {
  readonly state: 'ok' | 'pending' | 'firing';
  /** When it came into this state, store clock. */
  readonly since: number;
  readonly value: number;
}
export interface Judged extends AlertState {
  readonly told?: 'raised' | 'cleared' | undefined;
}

export function judge(
  rule: AlertRule,
  before: AlertState | undefined,
  samples: readonly Sample[],
  now: number,
  sweepMs: number,
): Judged {
  const value = rule.value(samples, now, sweepMs);
  const { state, since: from } = before ?? { state: 'ok', since: now };
  if (!(value > rule.threshold)) {
    return { state: 'ok', since: state === 'ok' ? from : now, value, told: state === 'firing' ? 'cleared' : undefined };
  }
  if (state === 'firing') return { state, since: from, value };
  const brokenSince = state === 'pending' ? from : now;
  if (now - brokenSince < rule.forMs) return { state: 'pending', since: brokenSince, value };
  return { state: 'firing', since: now, value, told: 'raised' };
}

/** How many expired within one interval. Where nobody looked for long, what came meanwhile is spread over that time: leases
 *  that expired during a night without a server did not expire together. */
function within(samples: readonly Sample[], now: number, sweepMs: number): number {
  const { expired } = since(samples, now - sweepMs);
  const elapsedMs = now - (samples.findLast(({ at }) => at <= now - sweepMs)?.at ?? now);
  return elapsedMs > 4 * sweepMs ? (expired * sweepMs) / elapsedMs : expired;
}

/** Of the last minute: servers look at different moments, and one that has not looked yet clears nothing. */
function highest(samples: readonly Sample[], now: number, key: 'gaps' | 'skewMs'): number {
  return Math.max(0, ...samples.filter(({ at }) => at > now - MINUTE_MS).map((sample) => sample[key]));
}

/** What was added since then: against the last sample that is as old, or the oldest there is. */
function since(samples: readonly Sample[], at: number): Sums {
  const last = samples.at(-1) ?? NOTHING;
  const first = samples.findLast((sample) => sample.at <= at) ?? samples[0] ?? NOTHING;
  return Object.fromEntries(SUMS.map((key) => [key, Math.max(0, last[key] - first[key])])) as unknown as Sums;
}

function share(sums: Sums, one: keyof Sums, all: keyof Sums): number {
  return part(sums[one], sums[all]);
}
function part(one: number, all: number): number {
  return all === 0 ? 0 : one / all;
}

const NONE: Sums = {
  expiredLeases: 0,
  endedLeases: 0,
  expired: 0,
  recovered: 0,
  recoveryFailures: 0,
  conflicts: 0,
  renewals: 0,
  renewalFailures: 0,
  acquisitions: 0,
  acquisitionFailures: 0,
};
export const SUMS = Object.keys(NONE) as readonly (keyof Sums)[];
export const NOTHING: Sample = { at: 0, ...NONE, gaps: 0, skewMs: 0 };
