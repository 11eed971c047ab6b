// The lease rules the linearizability check goes by, written a second time: the conflict rule and the queue are not taken
// from `domain`, so that a mistake in those two is found here. What is in the way of a request is counted twice: for
// certain, and at most, where the end of something is not known (history-linear-state.ts).
import type { Part } from '../../domain/part.js';
import { livesAt, type Entry, type State } from './history-linear-state.js';

const PRIORITY_STEP_MS = 30_000;

export interface Claimant {
  readonly id: string;
  readonly parts: readonly Part[];
  /** Its place; a request without a ticket comes last. */
  readonly rank: number;
  readonly arrival: number;
  /** The lease it upgrades: not in its own way, and who waits for that lease is passed over. */
  readonly upgrades?: Entry | undefined;
}

export interface Obstacles {
  readonly leases: readonly Entry[];
  /** None of the leases conflicts outright: a limit is full. */
  readonly isLimit: boolean;
  readonly tickets: readonly Entry[];
}

export function rankFor(arrivedAt: number, priority: number): number {
  return arrivedAt - priority * PRIORITY_STEP_MS;
}

/** What is in the way at `now`: of what surely lives, or of everything that may. */
export function obstacles(state: State, claimant: Claimant, now: number, which: 'sure' | 'possible'): Obstacles {
  const standing = [...state.entries.values()].filter((entry) => {
    if (entry.id === claimant.id || entry.id === claimant.upgrades?.id) return false;
    const isStanding = entry.status === 'held' || (entry.status === 'waiting' && countsAhead(entry, claimant));
    const lives = isStanding ? livesAt(entry, now) : 'no';
    return lives === 'yes' || (lives === 'maybe' && which === 'possible');
  });
  const direct = standing.filter(({ parts }) => clash(parts, claimant.parts));
  const full = new Set(claimant.parts.flatMap((part) => fullOn(part, standing)));
  const all = [...new Set([...direct, ...full])];
  return {
    leases: all.filter(({ status }) => status === 'held'),
    isLimit: !direct.some(({ status }) => status === 'held'),
    tickets: all.filter(({ status }) => status === 'waiting'),
  };
}

export function isFree({ leases, tickets }: Obstacles): boolean {
  return leases.length === 0 && tickets.length === 0;
}

/** At the earliest when enough of what is surely in the way may be over: where a limit is full, one of them is. */
export function freeAt(state: State, claimant: Claimant): number | undefined {
  const sure = obstacles(state, claimant, state.now, 'sure');
  const moments = [state.now, ...[...sure.leases, ...sure.tickets].map(({ lo }) => Math.max(lo, state.now))];
  return moments.sort((a, b) => a - b).find((at) => isFree(obstacles(state, claimant, at, 'sure')));
}

function countsAhead(ticket: Entry, { rank, arrival, upgrades }: Claimant): boolean {
  const isAhead = ticket.rank < rank || (ticket.rank === rank && ticket.arrival < arrival);
  if (!isAhead || !upgrades) return isAhead;
  const waitsForIt = upgrades.parts.some((mine) =>
    ticket.parts.some(
      (its) => clash([mine], [its]) || (mine.name === its.name && (mine.limit ?? its.limit) !== undefined),
    ),
  );
  return !waitsForIt;
}

/** One is exclusive, and one name is the other or lies below a subtree of it. */
export function clash(some: readonly Part[], others: readonly Part[]): boolean {
  return some.some((a) => others.some((b) => (a.mode !== 'shared' || b.mode !== 'shared') && touch(a, b)));
}

export function touch(a: Pick<Part, 'name' | 'scope'>, b: Pick<Part, 'name' | 'scope'>): boolean {
  if (a.name === b.name) return true;
  if (a.scope === 'subtree' && b.name.startsWith(`${a.name}/`)) return true;
  return b.scope === 'subtree' && a.name.startsWith(`${b.name}/`);
}

/** The shared holders of a name that has no room for one more. */
function fullOn(part: Part, standing: readonly Entry[]): Entry[] {
  if (part.mode !== 'shared') return [];
  const sharing = standing.flatMap((entry) => {
    const same = entry.parts.find(({ name, mode }) => name === part.name && mode === 'shared');
    return same ? [{ entry, limit: same.limit ?? Infinity }] : [];
  });
  const smallest = Math.min(part.limit ?? Infinity, ...sharing.map(({ limit }) => limit));
  return sharing.length + 1 > smallest ? sharing.map(({ entry }) => entry) : [];
}

/** The highest epoch drawn on anything these parts touch (S2). */
export function highestOn(state: State, parts: readonly Part[]): number {
  let highest = 0;
  for (const [key, epoch] of state.highest) {
    const space = key.indexOf(' ');
    const there = { scope: key.slice(0, space) as Part['scope'], name: key.slice(space + 1) };
    if (parts.some((part) => touch(part, there))) highest = Math.max(highest, epoch);
  }
  return highest;
}
