// Streams of numbers: what keeps a watermark where it is, gaps, and what waits for a person.
import type { Facts } from '../facts.js';
import { finding, type Finding } from '../finding.js';
import { count, duration, typed } from '../words.js';

/** O3: more gaps than this is an alert. */
const MANY_GAPS = 100;
/** Recovery looks every 30 s, and a reader that waits does it at once: four of its turns without one is no accident. */
const RECOVERY_LATE_MS = 2 * 60_000;

export function streamTrouble({ streams, now }: Facts): Finding[] {
  return streams.flatMap(({ name, gaps, manual, oldestOpen, watermark }) => {
    const found: Finding[] = [];
    const lateMs = oldestOpen === undefined ? 0 : now - oldestOpen.dueAt;
    if (oldestOpen !== undefined && lateMs > RECOVERY_LATE_MS) {
      const what = `${name} stands at ${watermark}: number ${oldestOpen.number} is overdue for recovery by ${duration(lateMs)}`;
      const evidence = [
        `${oldestOpen.state} by ${oldestOpen.owner} for ${oldestOpen.operationId} (${oldestOpen.kind})`,
      ];
      found.push(finding('sequence-gaps', 'wrong', what, evidence, `holdfast seq recover ${typed(name)}`));
    }
    if (gaps > 0) {
      const severity = gaps > MANY_GAPS ? 'warning' : 'note';
      const what = `${name} has ${count(gaps, 'gap')}`;
      found.push(finding('sequence-gaps', severity, what, [], `holdfast seq gaps ${typed(name)}`));
    }
    if (manual > 0) {
      const what = `${count(manual, 'operation')} of ${name} could not be recovered and ${manual === 1 ? 'waits' : 'wait'} for a person`;
      found.push(finding('manual-queue', 'wrong', what, [], `holdfast seq manual ls ${typed(name)}`));
    }
    return found;
  });
}
