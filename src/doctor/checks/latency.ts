// How fast the store answers, against what the holders can wait for: a renewal is given up after 10 % of its ttl (S14), so a
// store that is slower than that makes every holder lose its lease while nothing looks broken.
import { defaultRequestTimeoutMs } from '../../domain/trust-window.js';
import type { Facts } from '../facts.js';
import { finding, type Finding } from '../finding.js';
import { count, duration, percentile } from '../words.js';

const SLOW_MS = 100;
const VERY_SLOW_MS = 1_000;

export function storeLatency({ calls, leases, kind, stuckWriter, unread }: Facts): Finding[] {
  const found: Finding[] = [];
  if (stuckWriter !== undefined) {
    const what = `process ${stuckWriter} has had the write lock of the file for as long as was looked: nobody else can take or renew anything`;
    const evidence = ['the same process was the writer at every look, according to /proc/locks'];
    found.push(finding('store-latency', 'wrong', what, evidence, `ps -o pid,stat,etime,args -p ${stuckWriter}`));
  }
  const asked = calls.answeredMs.length + calls.timedOut;
  if (asked === 0) return found;
  const [middle, slowest] = [percentile(calls.answeredMs, 50), Math.max(0, ...calls.answeredMs)];
  const patience = patienceOf(leases);
  const evidence = [
    `${count(asked, 'call')}: half within ${duration(middle)}, the slowest ${duration(slowest)}, ${calls.timedOut} without an answer in ${duration(calls.limitMs)}`,
    ...(patience === undefined
      ? []
      : [`the shortest live lease lives ${duration(patience.ttlMs)}: its renewals wait ${duration(patience.ms)}`]),
    ...unread.map(({ what, why }) => `${what}: ${why}`),
  ];
  const next = kind === 'postgres' || kind === 'redis' ? 'holdfast doctor --for 60s' : 'holdfast bench';
  if (calls.timedOut > 0) {
    const what = `the store did not answer ${calls.timedOut} of ${asked} calls in ${duration(calls.limitMs)}`;
    return [...found, finding('store-latency', 'wrong', what, evidence, next)];
  }
  const isTooSlow = patience !== undefined && middle >= patience.ms;
  if (isTooSlow || middle >= VERY_SLOW_MS) {
    const what = `the store needs ${duration(middle)} for a call${isTooSlow ? ': longer than renewals wait' : ''}`;
    return [...found, finding('store-latency', 'wrong', what, evidence, next)];
  }
  if (middle >= SLOW_MS || slowest >= VERY_SLOW_MS || (patience !== undefined && slowest >= patience.ms)) {
    const what = `the store is slow: half of its answers take over ${duration(middle)}, the slowest took ${duration(slowest)}`;
    found.push(finding('store-latency', 'warning', what, evidence, next));
  }
  return found;
}

/** How long the least patient of those that renew waits for an answer. */
function patienceOf(leases: Facts['leases']): { readonly ttlMs: number; readonly ms: number } | undefined {
  const renewing = leases.filter(({ renewals }) => renewals > 0).map(({ ttlMs }) => ttlMs);
  if (renewing.length === 0) return undefined;
  const ttlMs = renewing.reduce((a, b) => Math.min(a, b));
  return { ttlMs, ms: defaultRequestTimeoutMs(ttlMs) };
}
