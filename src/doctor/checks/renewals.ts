// Whether renewals arrive: healthy over 95 % in five minutes, wrong under 80 % (docs/decisions/0016).
//
// The log has renewals only with `history_renewals`. Without it they are counted from the records: a lease carries how often
// it was renewed and when last, so those within the window are its rate times the time. What did not arrive is a lease that
// ran out although somebody meant to renew it, or that is overdue now. An attempt that failed and was made good by the next
// is in no store: each process counts those itself (`lease_renewals_total`).
import type { Lease } from '../../domain/lease.js';
import { windowOf, type Facts } from '../facts.js';
import { finding, type Finding } from '../finding.js';
import { expiryOf, lastHeard } from '../grants.js';
import { isOverdue } from '../overdue.js';
import { count, duration, typed } from '../words.js';

const HEALTHY = 0.95;
const WRONG = 0.8;

interface Failed {
  readonly owner: string;
  readonly text: string;
}

export function renewalsFailing(facts: Facts): Finding[] {
  const came = renewalsSeen(facts);
  const failed = [...ranOut(facts), ...overdue(facts)];
  const share = came / (came + failed.length);
  if (failed.length === 0 || share > HEALTHY) return [];
  const from = facts.settings.history_renewals ? 'the log' : 'the records of the leases';
  const what = `${Math.floor(share * 100)} % of the renewals due in ${windowOf(facts)} arrived (${came} of ${came + failed.length}, by ${from}); healthy is over 95 %`;
  const owners = [...new Set(failed.map(({ owner }) => owner))];
  const next =
    owners.length === 1
      ? `holdfast ls --owner ${typed(owners[0] ?? '')}`
      : 'holdfast history --since 5m --type expired';
  const evidence = [
    `${count(owners.length, 'owner')}: ${owners.slice(0, 5).join(', ')}`,
    ...failed.map(({ text }) => text),
  ];
  return [finding('renewals-failing', share < WRONG ? 'wrong' : 'warning', what, evidence, next)];
}

function renewalsSeen({ log, leases, ended, settings, since }: Facts): number {
  if (settings.history_renewals) return log.filter(({ type }) => type === 'lease.renewed').length;
  return [...leases, ...ended.values()].reduce((sum, lease) => sum + renewalsWithin(lease, since), 0);
}

/** Its renewals after `since`, by its own average; the last one is known. */
export function renewalsWithin({ renewals, acquiredAt, renewedAt }: Lease, since: number): number {
  if (renewals === 0 || renewedAt < since) return 0;
  const lived = renewedAt - acquiredAt;
  const share = lived === 0 ? 1 : Math.min(1, (renewedAt - since) / lived);
  return Math.max(1, Math.round(renewals * share));
}

/** Expired though it was renewed before, or though its owner lived on. One that reached its bound was meant to end. */
function ranOut(facts: Facts): Failed[] {
  const heard = lastHeard(facts);
  return facts.log.flatMap((row) => {
    const { type, owner, leaseId, resource = 'a name' } = row;
    if (type !== 'lease.expired' || owner === undefined || leaseId === undefined) return [];
    const lease = facts.ended.get(leaseId);
    const at = expiryOf(row);
    const wasRenewed = lease !== undefined && lease.renewals > 0;
    const livedOn = (heard.get(owner)?.at ?? 0) > at;
    if (!(wasRenewed || livedOn) || (lease !== undefined && endedByBound(lease))) return [];
    const before = wasRenewed
      ? `renewed ${count(lease.renewals, 'time')} before`
      : `never renewed, while ${owner} lived on`;
    return [{ owner, text: `${resource} of ${owner} ran out ${duration(facts.now - at)} ago, ${before}` }];
  });
}

/** By its last renewal it may live a whole ttl, unless `maxHold` cut that. */
function endedByBound({ maxRenewals, renewals, renewedAt, expiresAt, ttlMs }: Lease): boolean {
  return (maxRenewals >= 0 && renewals >= maxRenewals) || expiresAt < renewedAt + ttlMs;
}

function overdue({ leases, now }: Facts): Failed[] {
  return leases
    .filter((lease) => lease.renewals > 0 && !endedByBound(lease) && isOverdue(lease, now))
    .map(({ owner, parts, renewedAt, ttlMs }) => ({
      owner,
      text: `${parts[0]?.name ?? 'a lease'} of ${owner} was renewed ${duration(now - renewedAt)} ago and lives ${duration(ttlMs)}: overdue`,
    }));
}
