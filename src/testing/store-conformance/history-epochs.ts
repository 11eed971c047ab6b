// S2 over a recorded history: epochs rise in log order and none is drawn twice; every row carries the epoch its lease
// has; every epoch a client was told is one the log gave that id; and of two grants, one answered before the other was
// asked for, the later has the higher epoch.
import type { LogRow } from '../../domain/events.js';
import type { CallRecord, History } from './history-records.js';
import { numberIn, rowText, transitionOf } from './history-rows.js';

export function checkEpochs({ log, records }: History): string[] {
  return [...checkLog(log), ...checkAnswers(log, records), ...checkOrder(records)];
}

/** The epoch this row drew from the counter. One revocation draws once for all it ends. */
function drawnBy(row: LogRow): number | undefined {
  const draws = row.type === 'lease.acquired' || row.type === 'lease.upgraded' || row.type === 'lease.delegated';
  return draws ? row.epoch : numberIn(row, 'revocationEpoch');
}

function checkLog(log: readonly LogRow[]): string[] {
  const complaints: string[] = [];
  const present = new Map<string, number>();
  let last = 0;
  let lastWasRevocation = false;
  for (const [i, row] of log.entries()) {
    const drawn = drawnBy(row);
    const isRevocation = row.type === 'lease.revoked';
    if (drawn !== undefined) {
      const isSameRevocation = isRevocation && lastWasRevocation && drawn === last;
      if (drawn <= last && !isSameRevocation) {
        complaints.push(`S2: ${rowText(row, i)} drew epoch ${drawn} after epoch ${last} was drawn`);
      }
      last = Math.max(last, drawn);
      lastWasRevocation = isRevocation;
    }
    const id = row.leaseId ?? '';
    const kind = transitionOf(row)?.kind;
    if (drawn !== undefined && !isRevocation) present.set(id, drawn);
    else if (kind === 'changed' || kind === 'leaseEnded') {
      const epoch = present.get(id);
      if (epoch !== row.epoch) {
        complaints.push(`S2: ${rowText(row, i)} carries epoch ${String(row.epoch)}, its lease has ${String(epoch)}`);
      }
    }
  }
  return complaints;
}

/** id and epoch → owner, as the log has it. A spent upgrade ticket answers to the epoch it gave. */
function epochsIn(log: readonly LogRow[]): Map<string, string> {
  const given = new Map<string, string>();
  for (const row of log) {
    const drawn = row.type === 'lease.revoked' ? undefined : drawnBy(row);
    if (drawn === undefined) continue;
    given.set(`${row.leaseId ?? ''} ${drawn}`, row.owner ?? '');
    const ticketId = row.data['ticketId'];
    if (typeof ticketId === 'string') given.set(`${ticketId} ${drawn}`, row.owner ?? '');
  }
  return given;
}

interface Told {
  readonly id: string;
  readonly epoch: number;
  readonly owner?: string | undefined;
}

function checkAnswers(log: readonly LogRow[], records: readonly CallRecord[]): string[] {
  const given = epochsIn(log);
  const revocations = new Set(log.flatMap((row) => numberIn(row, 'revocationEpoch') ?? []));
  const complaints: string[] = [];
  for (const record of records) {
    for (const { id, epoch, owner } of toldIn(record)) {
      const logged = given.get(`${id} ${epoch}`);
      const what = `S2: ${record.client} was told that ${id} has epoch ${epoch}`;
      if (logged === undefined) complaints.push(`${what}, which the log never gave it`);
      else if (owner !== undefined && owner !== logged) {
        complaints.push(`${what} and belongs to ${owner}; in the log it is ${logged}'s`);
      }
    }
    const revocation = record.op === 'revoke' ? record.answer?.epoch : undefined;
    if (revocation !== undefined && !revocations.has(revocation)) {
      complaints.push(
        `S2: ${record.client} was told of a revocation with epoch ${revocation}, which is not in the log`,
      );
    }
  }
  return complaints;
}

/** Everything an answer says about epochs. */
function toldIn(record: CallRecord): Told[] {
  if (record.answer === undefined || record.op === 'failTicket' || record.op === 'sweep') return [];
  if (record.op === 'revoke') return record.answer.ended.filter(({ epoch }) => epoch !== 0);
  return record.answer.results.flatMap((result, i): Told[] => {
    if ('lease' in result) return [result.lease];
    const id = record.asked[i]?.id;
    const epoch = 'epoch' in result ? result.epoch : undefined;
    return id === undefined || epoch === undefined ? [] : [{ id, epoch }];
  });
}

/** Grants in real time: a sweep over sendings and arrivals. */
function checkOrder(records: readonly CallRecord[]): string[] {
  const grants = records.flatMap((record) => {
    const { sent, received } = record;
    if (received === undefined || record.answer === undefined) return [];
    if (record.op !== 'acquire' && record.op !== 'change') return [];
    // A downgrade keeps its epoch (Q5): it is no grant.
    const isGrant = (i: number): boolean => record.op === 'acquire' || record.asked[i]?.kind !== 'downgrade';
    return record.answer.results.flatMap((result, i) =>
      'lease' in result && !result.again && isGrant(i) ? { sent, received, ...result.lease } : [],
    );
  });
  const answered = grants.toSorted((a, b) => a.received - b.received);
  const complaints: string[] = [];
  let next = 0;
  let highest: (typeof grants)[number] | undefined;
  for (const grant of grants.toSorted((a, b) => a.sent - b.sent)) {
    for (let seen = answered[next]; seen && seen.received < grant.sent; seen = answered[next]) {
      if (!highest || seen.epoch > highest.epoch) highest = seen;
      next += 1;
    }
    if (highest && highest.epoch >= grant.epoch) {
      complaints.push(
        `S2: ${grant.id} was asked for after ${highest.id} had epoch ${highest.epoch}, but got epoch ${grant.epoch}`,
      );
    }
  }
  return complaints;
}
