// Queues that do not move, cycles, leases that are held for very long, and the life of the store itself.
import { LIMITS } from '../../domain/limits.js';
import { describeCycle, findCycles } from '../../domain/wait-graph.js';
import type { Facts } from '../facts.js';
import { finding, type Finding } from '../finding.js';
import { isOverdue } from '../overdue.js';
import { count, duration, typed } from '../words.js';

const LONG_WAIT_MS = 5 * 60_000;
const LONG_QUEUE = 100;
const NEARLY_FULL = 0.8;

export function stuckQueues({ tickets, graph, leases, now }: Facts): Finding[] {
  const found: Finding[] = [];
  const byName = new Map<string, { longestMs: number; count: number }>();
  for (const { parts, acquiredAt } of tickets) {
    const name = parts[0]?.name ?? '';
    const known = byName.get(name) ?? { longestMs: 0, count: 0 };
    byName.set(name, { longestMs: Math.max(known.longestMs, now - acquiredAt), count: known.count + 1 });
  }
  const holders = new Map(leases.map((lease) => [lease.id, lease]));
  for (const [name, { longestMs, count: waiting }] of byName) {
    if (longestMs < LONG_WAIT_MS && waiting < LONG_QUEUE) continue;
    const ahead = graph.tickets.find(({ resource, waitsForLeases }) => resource === name && waitsForLeases.length > 0);
    const holder = holders.get(ahead?.waitsForLeases[0]?.id ?? '');
    const isSilent = holder !== undefined && isOverdue(holder, now);
    const what = `${count(waiting, 'request')} for ${name}, the longest for ${duration(longestMs)}${isSilent ? ', behind a holder that is silent' : ''}`;
    const evidence =
      holder === undefined
        ? ['no live lease is in the way of the first: it waits for others ahead of it, or for a block to end']
        : [`held by ${holder.owner}, epoch ${holder.epoch}, renewed ${duration(now - holder.renewedAt)} ago`];
    found.push(finding('stuck-queue', isSilent ? 'wrong' : 'warning', what, evidence, `holdfast show ${typed(name)}`));
  }
  if (tickets.length >= NEARLY_FULL * LIMITS.ticketsPerNamespace) {
    const what = `${tickets.length} requests wait in the namespace, which takes ${LIMITS.ticketsPerNamespace}`;
    found.push(finding('stuck-queue', 'wrong', what, [], 'holdfast ls --status pending --sort queue'));
  }
  return found;
}

export function deadlocks({ graph, resource }: Facts): Finding[] {
  const cycles = findCycles(graph).map(describeCycle);
  const wanted = cycles.filter((steps) => resource === undefined || steps.some((step) => step.resource === resource));
  return wanted.map((steps) => {
    const evidence = steps.map(({ owner, resource, heldBy }) => `${owner} waits for ${resource} held by ${heldBy}`);
    const what = `${count(steps.length, 'request')} wait for each other; a waiting process breaks this within seconds, so look whether it stays`;
    return finding('deadlock', 'wrong', what, evidence, 'holdfast doctor --for 15s');
  });
}

export function oldLeases({ leases, settings, now }: Facts): Finding[] {
  const limitMs = settings.max_lock_age_seconds * 1_000;
  const old = leases
    .filter(({ acquiredAt }) => now - acquiredAt > limitMs)
    .toSorted((a, b) => a.acquiredAt - b.acquiredAt);
  const [first] = old;
  if (first === undefined) return [];
  const silent = old.filter((lease) => isOverdue(lease, now));
  const name = first.parts[0]?.name ?? '';
  const what = `${count(old.length, 'lease is', 'leases are')} held for longer than ${duration(limitMs)} (max_lock_age_seconds), ${silent.length} of them silent`;
  const evidence = old.map(
    ({ parts, owner, acquiredAt, renewedAt }) =>
      `${parts[0]?.name ?? ''} by ${owner} for ${duration(now - acquiredAt)}, renewed ${duration(now - renewedAt)} ago`,
  );
  return [
    finding('old-leases', silent.length > 0 ? 'warning' : 'note', what, evidence, `holdfast show ${typed(name)}`),
  ];
}

export function storeRestarted({ log, now }: Facts): Finding[] {
  return log
    .filter(({ type }) => type === 'store.incarnation' || type === 'store.clock_stepped')
    .map(({ type, at, reason, data }) =>
      type === 'store.incarnation'
        ? finding(
            'store-restarted',
            'warning',
            `a new life of the store began ${duration(now - at)} ago: answered writes before it may be lost, epochs are not`,
            [reason ?? 'no cause was given'],
            'holdfast history --since 10m',
          )
        : finding(
            'clock-skew',
            'warning',
            `the store's own clock stepped by ${duration(Number(data['byMs'] ?? 0))} ${duration(now - at)} ago`,
            [],
            'holdfast history --since 10m',
          ),
    );
}
