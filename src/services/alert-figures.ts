// From what a server has counted to the running sums all servers share. Totals of the log are the same everywhere, so what one
// server adds is only what the record has not seen; what a process alone can know is added by that process.
import type { AlertRecord } from '../observe/alert-record.js';
import { NOTHING, type Sample } from '../observe/alert-rules.js';
import { endedLeases, expiredLeases, recoveries, type LogTotals } from '../observe/log-totals.js';
import type { ProcessCounts } from '../observe/server-metrics.js';

export interface AlertFigures {
  /** Undefined while the log is not followed yet. */
  readonly totals: LogTotals | undefined;
  readonly process: ProcessCounts;
  readonly gaps: number;
}

/** What this process had counted when its figures were last added. */
export type Counted = Omit<ProcessCounts, 'skewMs'>;

export function newCounts(): Counted {
  return { refused: 0, errors: 0, renewals: 0, renewalFailures: 0, conflicts: 0 };
}

interface Merged {
  readonly sample: Sample;
  readonly seen: readonly number[];
  readonly counted: Counted;
}

export function mergeFigures(record: AlertRecord, figures: AlertFigures, counted: Counted, now: number): Merged {
  const before = record.samples.at(-1) ?? NOTHING;
  const { seen, added } = unseen(record.seen, figures.totals);
  const [expiredOnes = 0, ended = 0, expired = 0, recovered = 0, failures = 0, acquired = 0, acquireFailures = 0] =
    added;
  const more = (key: keyof Counted): number => Math.max(0, figures.process[key] - counted[key]);
  const { skewMs, ...present } = figures.process;
  const sample: Sample = {
    at: Math.max(now, before.at),
    expiredLeases: before.expiredLeases + expiredOnes,
    endedLeases: before.endedLeases + ended,
    expired: before.expired + expired,
    recovered: before.recovered + recovered,
    recoveryFailures: before.recoveryFailures + failures,
    conflicts: before.conflicts + more('conflicts'),
    renewals: before.renewals + more('renewals'),
    renewalFailures: before.renewalFailures + more('renewalFailures'),
    acquisitions: before.acquisitions + acquired + more('refused') + more('errors'),
    acquisitionFailures: before.acquisitionFailures + acquireFailures + more('errors'),
    gaps: figures.gaps,
    skewMs: Math.round(Math.abs(skewMs)),
  };
  return { sample, seen, counted: present };
}

/** The first look adds nothing: what happened before there was a record is no news. Totals that went back add nothing. */
function unseen(seen: readonly number[], totals: LogTotals | undefined): { seen: readonly number[]; added: number[] } {
  if (!totals) return { seen, added: [] };
  const { acquired, timeouts, aborted, deadlocks, expired } = totals;
  const { succeeded, failed } = recoveries(totals);
  const failures = timeouts + deadlocks;
  const all = acquired + aborted + failures;
  const present = [expiredLeases(totals), endedLeases(totals), expired, succeeded, failed, all, failures];
  if (seen.length !== present.length) return { seen: present, added: [] };
  const next = present.map((value, i) => Math.max(value, seen[i] ?? 0));
  return { seen: next, added: next.map((value, i) => value - (seen[i] ?? 0)) };
}
