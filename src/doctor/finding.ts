// One thing the doctor found: how bad, what, how it is known, what to type next, and where to read on. The words are for
// somebody who was woken by it.

/** `wrong` needs somebody and makes the command exit 1; `warning` needs an eye; `note` is worth knowing. */
export type Severity = 'wrong' | 'warning' | 'note';

export type Check =
  | 'owners-competing'
  | 'clock-skew'
  | 'partition'
  | 'renewals-failing'
  | 'restarted-twin'
  | 'store-latency'
  | 'store-health'
  | 'stuck-queue'
  | 'deadlock'
  | 'old-leases'
  | 'sequence-gaps'
  | 'manual-queue'
  | 'store-restarted'
  | 'not-looked-at';

export interface Finding {
  readonly check: Check;
  readonly severity: Severity;
  readonly what: string;
  readonly evidence: readonly string[];
  /** A command to type. */
  readonly next: string;
  /** A page of this project. */
  readonly runbook: string;
}

const PAGES: Readonly<Record<Check, string>> = {
  'owners-competing': 'docs/runbooks/down-to-one.md',
  'clock-skew': 'docs/runbooks/fix-clock-skew.md',
  partition: 'docs/runbooks/restart-a-holder.md',
  'renewals-failing': 'docs/runbooks/renewal-failures.md',
  'restarted-twin': 'docs/runbooks/down-to-one.md',
  'store-latency': 'docs/runbooks/store-unavailable.md',
  'store-health': 'docs/runbooks/store-unavailable.md',
  'stuck-queue': 'docs/runbooks/restart-a-holder.md',
  deadlock: 'docs/guide/deadlock.md',
  'old-leases': 'docs/runbooks/restart-a-holder.md',
  'sequence-gaps': 'docs/runbooks/sequence-gaps.md',
  'manual-queue': 'docs/runbooks/recovery-failures.md',
  'store-restarted': 'docs/runbooks/store-unavailable.md',
  'not-looked-at': 'docs/guide/doctor.md',
};

const MOST_EVIDENCE = 8;

export function finding(
  check: Check,
  severity: Severity,
  what: string,
  evidence: readonly string[],
  next: string,
  runbook: string = PAGES[check],
): Finding {
  const more = evidence.length - MOST_EVIDENCE;
  const shown = more > 0 ? [...evidence.slice(0, MOST_EVIDENCE), `and ${more} more`] : evidence;
  return { check, severity, what, evidence: shown, next, runbook };
}

const ORDER: Readonly<Record<Severity, number>> = { wrong: 0, warning: 1, note: 2 };

/** The worst first; of equals in the order they were found. */
export function bySeverity(findings: readonly Finding[]): Finding[] {
  return findings.toSorted((a, b) => ORDER[a.severity] - ORDER[b.severity]);
}
