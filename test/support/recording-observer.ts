// An observer that writes down what it was told, for tests of the manager's parts.
import type { EventFacts } from '../../src/domain/events.js';
import type { Observer } from '../../src/manager/observer.js';

export interface RecordingObserver extends Observer {
  readonly told: unknown[][];
  readonly events: EventFacts[];
}

export function recordingObserver(): RecordingObserver {
  const told: unknown[][] = [];
  const events: EventFacts[] = [];
  const note =
    (what: string) =>
    (...facts: unknown[]) =>
      void told.push([what, ...facts]);
  return {
    told,
    events,
    wants: () => true,
    announce: (facts) => void events.push(facts),
    acquisition: note('acquisition'),
    renewals: note('renewals'),
    conflict: note('conflict'),
    held: note('held'),
    holdEnded: note('holdEnded'),
    storeCall: note('storeCall'),
    skew: note('skew'),
  };
}
