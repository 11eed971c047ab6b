// "Each grant ends once" over a recorded history: an id queues at most once, is granted at most once and ends at most
// once, in that order; nothing happens to it afterwards; clients were told of one grant and one release at most; what they
// were told of has its row; and whatever has no end in the log still stands in the table, or ran out when nobody was there
// to write it down.
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
  return [...checkStages(history), ...checkAnswers(history), ...checkSweeps(history)];
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

/** S8, S5: a new grant and a new release are each answered once, and everything that was answered is in the log. */
function checkAnswers({ log, records }: History): string[] {
  const rows = new Set(log.map((row) => `${row.type} ${row.leaseId ?? ''}`));
  const said = new Set<string>();
  const complaints: string[] = [];
  for (const record of records) {
    for (const { what, row, isOnce } of toldIn(record)) {
      if (isOnce && said.has(what)) {
        complaints.push(`ends: ${what} was answered twice as new, the second time to ${record.client}`);
      }
      if (row !== undefined && !rows.has(row)) complaints.push(`ends: ${what} was answered, but is not in the log`);
      said.add(what);
    }
  }
  return complaints;
}

interface Told {
  readonly what: string;
  /** The type and id of the row that must be there. */
  readonly row?: string | undefined;
  /** It happens once, so it is answered as new once. */
  readonly isOnce: boolean;
}

function toldIn(record: CallRecord): Told[] {
  if (record.answer === undefined || record.op === 'sweep' || record.op === 'renew') return [];
  if (record.op === 'failTicket') {
    const { id, outcome } = { ...record.asked, ...record.answer } as { id: string; outcome?: string };
    const row = `deadlock.detected ${id}`;
    return outcome === 'failed' ? [{ what: `the deadlock of ${id}`, row, isOnce: true }] : [];
  }
  if (record.op === 'revoke') {
    return record.answer.ended.map(({ id }) => once(`the revocation of ${id}`, `lease.revoked ${id}`));
  }
  if (record.op === 'acquire') {
    return record.answer.results.flatMap((result, i) => {
      const id = record.asked[i]?.id ?? '';
      if (result.outcome === 'queued') return { what: `the ticket ${id}`, row: `lease.queued ${id}`, isOnce: false };
      if (result.outcome !== 'granted' || result.again) return [];
      return once(`the grant of ${result.lease.id} with epoch ${result.lease.epoch}`);
    });
  }
  return record.answer.results.flatMap((result, i) => {
    const id = record.asked[i]?.id ?? '';
    if (!('again' in result) || result.again) return [];
    if (result.outcome === 'released') {
      const released = once(`the release of ${id}`, `lease.released ${id}`);
      const to = 'handedTo' in result ? result.handedTo : undefined;
      return to
        ? [released, once(`the grant of ${to.id} with epoch ${to.epoch}`, `lease.acquired ${to.id}`)]
        : released;
    }
    const isDowngrade = record.op === 'change' && record.asked[i]?.kind === 'downgrade';
    return isDowngrade ? { what: `the downgrade of ${id}`, row: `lease.downgraded ${id}`, isOnce: false } : [];
  });
}

function once(what: string, row?: string): Told {
  return { what, row, isOnce: true };
}

/** S3: what a sweep says it wrote down stands in the log with the sweep's time. */
function checkSweeps({ log, records }: History): string[] {
  const written = new Map<string, number>();
  for (const { type, at, reason } of log) {
    if (type !== 'lease.expired' && !(type === 'lease.failed' && reason === 'died')) continue;
    written.set(`${type} ${at}`, (written.get(`${type} ${at}`) ?? 0) + 1);
  }
  return records.flatMap(({ op, answer, now, client }) => {
    if (op !== 'sweep' || answer === undefined || now === undefined) return [];
    const { leases = 0, tickets = 0 } = answer as { leases?: number; tickets?: number };
    const found = {
      leases: written.get(`lease.expired ${now}`) ?? 0,
      tickets: written.get(`lease.failed ${now}`) ?? 0,
    };
    if (leases <= found.leases && tickets <= found.tickets) return [];
    return `ends: ${client} was told that a sweep at ${now} ended ${leases} leases and ${tickets} tickets, the log has ${found.leases} and ${found.tickets}`;
  });
}
