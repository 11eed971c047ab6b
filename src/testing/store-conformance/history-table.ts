// "The log replays to the table": the rows of the log, applied one after the other, must give what `list` shows at the
// end: the same ids with the same status, owner, epoch and parts, but for what ran out since.
import type { LogRow } from '../../domain/events.js';
import type { Lease } from '../../domain/lease.js';
import { sameParts, type Part } from '../../domain/part.js';
import type { History } from './history-records.js';
import { livesOf, partsOf, transitionOf } from './history-rows.js';
import { changesParts } from './history-standing.js';

type Line = Pick<Lease, 'status' | 'owner' | 'epoch' | 'parts'>;

export function checkTable(history: History): string[] {
  const replayed = replay(history.log);
  const { leaseUntil, ticketUntil } = livesOf(history);
  const listed = new Map(history.table.items.map((item) => [item.id, item]));
  const complaints: string[] = [];
  if (listed.size < history.table.items.length) complaints.push('table: an id is listed twice');
  for (const [id, item] of listed) {
    const line = replayed.get(id);
    if (line === undefined)
      complaints.push(`table: ${id} is listed as ${lineText(item)}, the log has ended it or never saw it`);
    else if (!sameLine(line, item)) {
      complaints.push(`table: ${id} is listed as ${lineText(item)}, the log makes it ${lineText(line)}`);
    }
  }
  for (const [id, line] of replayed) {
    const until = (line.status === 'pending' ? ticketUntil : leaseUntil).get(id) ?? 0;
    if (!listed.has(id) && until > history.table.now) {
      complaints.push(`table: ${id} is missing, the log makes it ${lineText(line)}`);
    }
  }
  return complaints;
}

/** What is pending or active after the last row. */
function replay(log: readonly LogRow[]): Map<string, Line> {
  const lines = new Map<string, Line>();
  for (const row of log) {
    const change = transitionOf(row);
    if (change === undefined) continue;
    const { kind, id } = change;
    if (kind === 'leaseEnded' || kind === 'ticketEnded') lines.delete(id);
    else {
      const parts: readonly Part[] =
        changesParts(row) || kind === 'queued' ? partsOf(row) : (lines.get(id)?.parts ?? []);
      const status = kind === 'queued' ? 'pending' : 'active';
      lines.set(id, { status, owner: row.owner ?? '', epoch: row.epoch ?? 0, parts });
    }
    if (kind === 'upgraded') lines.delete(change.ticketId);
  }
  return lines;
}

function sameLine(a: Line, b: Line): boolean {
  return a.status === b.status && a.owner === b.owner && a.epoch === b.epoch && sameParts(a.parts, b.parts);
}

function lineText({ status, owner, epoch, parts }: Line): string {
  const names = parts.map(({ name, scope, mode }) => `${name}${scope === 'subtree' ? '/**' : ''} ${mode}`).join(', ');
  return `${status}, ${owner}'s, epoch ${epoch}, on ${names}`;
}
