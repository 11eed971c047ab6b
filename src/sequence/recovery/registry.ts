// What the application told recovery to use, by stream and kind: functions that rebuild, steps of its own, cleaners, and who
// wants to hear of recovery mode. They live in this process; recoverers elsewhere may have others, or none.
import { checkKind } from '../../domain/check-sequence.js';
import { invalid, shown } from '../../domain/errors.js';
import type { Claimed } from '../../domain/sequence.js';

export type Rebuild = (partial: unknown, item: Claimed) => Promise<unknown>;
/** An own step, tried before the built-in ones: the operation, or undefined when it has nothing. */
export type OwnStep = (item: Claimed) => Promise<unknown>;
export type Cleaner = (operationId: string) => Promise<void>;

const MOST_CLEANERS = 100;

export class Registry {
  readonly #rebuilds = new Map<string, Rebuild>();
  readonly #steps = new Map<string, OwnStep>();
  readonly #cleaners = new Map<string, Cleaner[]>();
  readonly #cascade = new Set<(on: boolean) => void>();

  rebuild(stream: string, kind: string, fn: Rebuild): void {
    this.#rebuilds.set(key(stream, checkKind(kind)), checkFunction(fn, 'rebuild'));
  }
  step(stream: string, kind: string, fn: OwnStep): void {
    this.#steps.set(key(stream, checkKind(kind)), checkFunction(fn, 'step'));
  }
  cleaner(stream: string, kind: string, fn: Cleaner): void {
    const all = this.#cleaners.get(key(stream, checkKind(kind))) ?? [];
    if (all.length >= MOST_CLEANERS) throw invalid(`a kind has at most ${MOST_CLEANERS} cleaners`);
    this.#cleaners.set(key(stream, kind), [...all, checkFunction(fn, 'cleaner')]);
  }
  onCascade(fn: (on: boolean) => void): void {
    this.#cascade.add(checkFunction(fn, 'onCascade'));
  }

  rebuildOf({ stream, kind }: Claimed): Rebuild | undefined {
    return this.#rebuilds.get(key(stream, kind));
  }
  stepOf({ stream, kind }: Claimed): OwnStep | undefined {
    return this.#steps.get(key(stream, kind));
  }
  cleanersOf({ stream, kind }: Pick<Claimed, 'stream' | 'kind'>): readonly Cleaner[] {
    return this.#cleaners.get(key(stream, kind)) ?? [];
  }
  hasCleaners(stream: string): boolean {
    return [...this.#cleaners.keys()].some((one) => one.startsWith(key(stream, '')));
  }
  /** What a listener throws is its own (S12). */
  tellCascade(on: boolean, report: (error: unknown) => void): void {
    for (const fn of this.#cascade) {
      try {
        fn(on);
      } catch (error) {
        report(error);
      }
    }
  }
}

/** A line end is in no name of a stream. */
function key(stream: string, kind: string): string {
  return `${stream}\n${kind}`;
}

function checkFunction<F>(fn: F, what: string): F {
  if (typeof fn === 'function') return fn;
  throw invalid(`${what} takes a function, got ${shown(fn)}`);
}
