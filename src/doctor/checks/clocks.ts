// Clocks: every holder's wall clock against the store's, and this machine's. No lease depends on them (S13), but logs, jobs and
// certificates do. Fine to 2 s, wrong over 5 s: the runbook's figures.
import type { Facts } from '../facts.js';
import { finding, type Finding, type Severity } from '../finding.js';
import { duration } from '../words.js';

const FINE_MS = 2_000;
const WRONG_MS = 5_000;

export function clockSkew({ leases, tickets, ownSkewMs }: Facts): Finding[] {
  const worst = new Map<string, number>();
  for (const { owner, skewMs } of [...leases, ...tickets]) {
    if (Math.abs(skewMs) > Math.abs(worst.get(owner) ?? 0)) worst.set(owner, skewMs);
  }
  const off = [...worst].filter(([, ms]) => Math.abs(ms) > FINE_MS).toSorted((a, b) => Math.abs(b[1]) - Math.abs(a[1]));
  const found: Finding[] = [];
  const [first] = off;
  if (first) {
    const others = off.length === 1 ? '' : ` (and ${off.length - 1} more)`;
    const what = `the clock of ${first[0]}${others} is ${offBy(first[1])} the store's`;
    const evidence = off.map(([owner, ms]) => `${owner}: ${offBy(ms)} the store's`);
    found.push(finding('clock-skew', severityOf(first[1]), what, evidence, 'holdfast ls --json'));
  }
  if (Math.abs(ownSkewMs) > FINE_MS) {
    const what = `the clock of this machine is ${offBy(ownSkewMs)} the store's`;
    const evidence = [worst.size === 0 ? 'nobody holds anything to compare with' : 'compare: the holders above'];
    found.push(finding('clock-skew', severityOf(ownSkewMs), what, evidence, 'date -u'));
  }
  return found;
}

function severityOf(ms: number): Severity {
  return Math.abs(ms) > WRONG_MS ? 'wrong' : 'warning';
}

function offBy(ms: number): string {
  return `${duration(Math.abs(ms))} ${ms > 0 ? 'ahead of' : 'behind'}`;
}
