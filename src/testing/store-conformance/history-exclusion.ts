// S1 over a recorded history: at no instant of the store clock do two live leases conflict. Leases are followed through
// the log in its order; each grant, upgrade and downgrade must fit beside whatever lives at that instant. And S10: what
// is granted is what was asked for, all of it.
import { inTheWay } from '../../domain/conflict.js';
import { sameParts } from '../../domain/part.js';
import { requestsIn, type History } from './history-records.js';
import { livesOf, partsOf, rowText } from './history-rows.js';
import { changesParts, Standing } from './history-standing.js';

export function checkExclusion(history: History): string[] {
  const standing = new Standing(livesOf(history));
  const requests = requestsIn(history.records);
  const complaints: string[] = [];
  for (const [i, row] of history.log.entries()) {
    if (changesParts(row)) {
      const parts = partsOf(row);
      const asked = row.type === 'lease.acquired' ? requests.get(row.leaseId ?? '')?.parts : undefined;
      if (asked && !sameParts(asked, parts))
        complaints.push(`S10: ${rowText(row, i)} is on other parts than asked for`);
      const others = standing.leases(parts, row.at).filter(({ id }) => id !== row.leaseId);
      const { direct, byLimit } = inTheWay(parts, others);
      for (const other of direct) complaints.push(`S1: ${rowText(row, i)} conflicts with ${other.id}, which is live`);
      if (byLimit.length > 0) {
        complaints.push(
          `S1: ${rowText(row, i)} is one more than the limit beside ${byLimit.map(({ id }) => id).join(', ')}`,
        );
      }
    }
    standing.apply(row, i);
  }
  return complaints;
}
