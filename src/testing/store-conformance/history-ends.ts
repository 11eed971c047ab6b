// "Each grant ends once" over a recorded history: an id queues at most once, is granted at most once and ends at most
// once, in that order; nothing happens to it afterwards; clients were told of one grant and one release at most; and
// whatever has no end in the log still stands in the table, or ran out when nobody was there to write it down.
import type { CallRecord, History } from './history-records.js';
import { livesOf, numberIn, rowText, transitionOf, type Transition } from './history-rows.js';

type Stage = 'unknown' | 'waiting' | 'held' | 'over';

/** The stage an id must be in for a transition, and the one it is in afterwards. */
const STAGES: { readonly [K in Transition['kind']]: { readonly from: readonly Stage[]; readonly to: Stage } } = {
  queued: { from: ['unknown'], to: 'waiting' },
  granted: { from: ['unknown', 'waiting'], to: 'held' },
  upgraded: { from: ['held'], to: 'held' },
  changed: { from: ['held'], to: 'held' },
  leaseEnded: { from: ['held'], to: 'over' },
  ticketEnded: { from: ['waiting'], to: 'over' },
};

export function checkEnds(history: History): string[] {
  return [...checkStages(history), ...checkAnswers(history)];
}

function checkStages(history: History): string[] {
  const complaints: string[] = [];
  const stages = new Map<string, Stage>();
  for (const [i, row] of history.log.entries()) {
    const change = transitionOf(row);
    if (change === undefined) continue;
    const stage = stages.get(change.id) ?? 'unknown';
    const { from, to } = STAGES[change.kind];
    if (!from.includes(stage)) complaints.push(`ends: ${rowText(row, i)} happened to an id that was ${stage}`);
    if (row.type === 'lease.expired' && (numberIn(row, 'expiresAt') ?? Infinity) > row.at) {
      complaints.push(`ends: ${rowText(row, i)} was written before its time`);
    }
    stages.set(change.id, to);
    if (change.kind !== 'upgraded') continue;
    const ticket = stages.get(change.ticketId) ?? 'unknown';
    if (ticket === 'held' || ticket === 'over') {
      complaints.push(`ends: ${rowText(row, i)} spent the ticket ${change.ticketId}, which was ${ticket}`);
    }
    stages.set(change.ticketId, 'over');
  }
  return [...complaints, ...checkOpen(history, stages)];
}

/** What the log leaves open. An expiry need not be written down (S3), but then its time must have come. */
function checkOpen(history: History, stages: ReadonlyMap<string, Stage>): string[] {
  const { table } = history;
  const lives = livesOf(history);
  const listed = new Set(table.items.map(({ id }) => id));
  return [...stages].flatMap(([id, stage]) => {
    if (stage === 'over' || listed.has(id)) return [];
    const until = (stage === 'held' ? lives.leaseUntil : lives.ticketUntil).get(id) ?? 0;
    if (until > table.now) return [`ends: ${id} has no end in the log, is not in the table and lives until ${until}`];
    return until > (table.sweptAt ?? 0) ? [] : [`ends: ${id} ran out at ${until}, but no sweep wrote it down`];
  });
}

/** S8, S5: a new grant and a new release are each answered once, and every end that was answered is in the log. */
function checkAnswers({ log, records }: History): string[] {
  const ended = new Set(
    log.flatMap((row) => (transitionOf(row)?.kind.endsWith('Ended') ? `${row.type} ${row.leaseId ?? ''}` : [])),
  );
  const said = new Set<string>();
  const complaints: string[] = [];
  for (const record of records) {
    for (const { what, row } of endsAndGrantsIn(record)) {
      if (said.has(what))
        complaints.push(`ends: ${what} was answered twice as new, the second time to ${record.client}`);
      if (row !== undefined && !ended.has(row)) complaints.push(`ends: ${what} was answered, but is not in the log`);
      said.add(what);
    }
  }
  return complaints;
}

/** `row`: the type and id of the row that must be there. */
function endsAndGrantsIn(record: CallRecord): { readonly what: string; readonly row?: string }[] {
  if (record.answer === undefined) return [];
  if (record.op === 'acquire') {
    return record.answer.results.flatMap((result) => {
      if (result.outcome !== 'granted' || result.again) return [];
      return { what: `the grant of ${result.lease.id} with epoch ${result.lease.epoch}` };
    });
  }
  if (record.op === 'revoke') {
    return record.answer.ended.map(({ id }) => ({ what: `the revocation of ${id}`, row: `lease.revoked ${id}` }));
  }
  if (record.op !== 'end') return [];
  return record.answer.results.flatMap((result, i) => {
    const id = record.asked[i]?.id ?? '';
    if (result.outcome !== 'released' || result.again) return [];
    return { what: `the release of ${id}`, row: `lease.released ${id}` };
  });
}
