// The search of the linearizability check, in the manner of Wing and Gong with the memory of Lowe: take any operation that
// no other must precede, see whether the specification allows its answer now, go on from there, else go back. A
// configuration (what was taken, and the state it led to) that failed once is not tried again. The clock of the store
// orders most of it: an answered operation is tried only while none with an earlier `now` is left.
//
// Operations without an answer may act anywhere, which is what makes the search long. So it is made twice: first they act
// only where something would not fit without them, which finds an order quickly when there is one; only when that fails,
// anywhere. "Not linearizable" is said by the second search alone.
import type { Operation } from './history-linear-operations.js';
import { answered } from './history-linear-spec.js';
import { EMPTY, stateText, type State } from './history-linear-state.js';
import { unanswered } from './history-linear-unknown.js';

export interface Searched {
  readonly found: 'linearizable' | 'not linearizable' | 'gave up';
  /** Configurations that were looked at. */
  readonly states: number;
}

/** One group of operations, at most `mostStates` configurations in each search. */
export function search(operations: readonly Operation[], mostStates: number): Searched {
  const quick = new Search(operations, mostStates, true).run();
  const hasOpen = operations.some(({ result }) => result === undefined);
  if (quick.found === 'linearizable' || !hasOpen) return quick;
  const whole = new Search(operations, mostStates, false).run();
  return { found: whole.found, states: whole.found === 'gave up' ? mostStates : quick.states + whole.states };
}

interface Configuration {
  readonly state: State;
  readonly taken: ReadonlySet<Operation>;
  /** All answered operations before this place are taken. */
  readonly first: number;
  /** The state before operations without an answer acted, while none that needed them has followed. */
  readonly without?: State | undefined;
}

class Search {
  readonly #answered: readonly Operation[];
  /** The earliest answer among those from each place on. */
  readonly #earliest: number[] = [];
  readonly #open: readonly Operation[];
  readonly #numbers: ReadonlyMap<Operation, number>;
  readonly #tried = new Set<string>();
  readonly #mostStates: number;
  readonly #onlyWhereNeeded: boolean;
  #states = 0;

  constructor(operations: readonly Operation[], mostStates: number, onlyWhereNeeded: boolean) {
    this.#mostStates = mostStates;
    this.#onlyWhereNeeded = onlyWhereNeeded;
    this.#answered = operations
      .filter(({ result }) => result !== undefined)
      .toSorted((a, b) => (a.now ?? 0) - (b.now ?? 0) || a.received - b.received);
    let earliest = Infinity;
    for (const { received } of this.#answered.toReversed()) {
      earliest = Math.min(earliest, received);
      this.#earliest.push(earliest);
    }
    this.#earliest.reverse();
    // The newest first: it is the likeliest to have acted last.
    this.#open = operations.filter(({ result }) => result === undefined).toSorted((a, b) => b.sent - a.sent);
    this.#numbers = new Map([...this.#answered, ...this.#open].map((one, i) => [one, i]));
  }

  /** Depth first, with a stack of its own: a history is longer than a call stack is deep. */
  run(): Searched {
    const begin: Configuration = { state: EMPTY, taken: new Set(), first: 0 };
    const stack: Iterator<Configuration, unknown>[] = [[begin][Symbol.iterator]()];
    for (let top = stack.at(-1); top; top = stack.at(-1)) {
      const step: IteratorResult<Configuration, unknown> = top.next();
      if (step.done) {
        stack.pop();
        continue;
      }
      const next = this.#advanced(step.value);
      if (next.first === this.#answered.length) return { found: 'linearizable', states: this.#states };
      const key = this.#keyOf(next);
      if (this.#tried.has(key)) continue;
      this.#tried.add(key);
      this.#states += 1;
      if (this.#states > this.#mostStates) return { found: 'gave up', states: this.#mostStates };
      stack.push(this.#following(next));
    }
    return { found: 'not linearizable', states: this.#states };
  }

  #advanced(configuration: Configuration): Configuration {
    let { first } = configuration;
    const taken = new Set(configuration.taken);
    for (let one = this.#answered[first]; one && taken.delete(one); one = this.#answered[first]) first += 1;
    return { ...configuration, taken, first };
  }

  #keyOf({ state, taken, first, without }: Configuration): string {
    const numbers = [...taken].map((one) => this.#numbers.get(one) ?? 0).sort((a, b) => a - b);
    const before = this.#onlyWhereNeeded && without ? stateText(without) : '';
    return `${first} ${numbers.join(',')} ${stateText(state)} ${before}`;
  }

  *#following({ state, taken, first, without }: Configuration): Generator<Configuration> {
    const end = this.#windowEnd(first);
    const left = this.#answered.slice(first, end).filter((one) => !taken.has(one));
    // Whatever was sent after an answer came must follow it.
    const earliest = Math.min(this.#earliest[end] ?? Infinity, ...left.map(({ received }) => received));
    const isDue = (one: Operation): boolean => one.sent <= earliest && this.#isAfterIts(one, taken, first);
    for (const one of left) {
      const after = isDue(one) ? answered(state, one) : undefined;
      if (!after || (this.#onlyWhereNeeded && without && answered(without, one))) continue;
      yield { state: after, taken: new Set(taken).add(one), first };
    }
    for (const one of this.#open) {
      if (taken.has(one) || !isDue(one)) continue;
      for (const after of unanswered(state, one)) {
        yield { state: after, taken: new Set(taken).add(one), first, without: without ?? state };
      }
    }
  }

  /** Those that share the earliest time that is left may come next. */
  #windowEnd(first: number): number {
    const now = this.#answered[first]?.now;
    let end = first;
    while (end < this.#answered.length && this.#answered[end]?.now === now) end += 1;
    return end;
  }

  /** Items of one call act in their order. */
  #isAfterIts({ after }: Operation, taken: ReadonlySet<Operation>, first: number): boolean {
    const number = after && this.#numbers.get(after);
    if (number === undefined || after?.result === undefined) return true; // of another group, or it may never act
    return number < first || taken.has(after);
  }
}
