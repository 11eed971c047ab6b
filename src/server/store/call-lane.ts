// Calls of one list method in one namespace, from any number of clients, put to the store together (S21): what is asked
// while a call is under way rides in the next, each caller's items in their order and answered by one reply. A store that
// waits for the disk at every step then waits once for all of them. Nothing is delayed to fill a call.
//
//   idle ──ask──▶ under way ──answer──▶ idle, or at once under way again with what came meanwhile (up to the limits)
//                     └─ no answer for PATIENCE_MS ──▶ the next leaves beside it; a late answer still counts
import type { Clock, TimerHandle } from '../../domain/clock.js';
import { LeaseError } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type { Answers } from '../../stores/store.js';

const PATIENCE_MS = 100;

type Send = (items: readonly object[]) => Promise<Answers<object>>;

interface Asked {
  readonly items: readonly object[];
  readonly parts: number;
  readonly resolve: (answers: Answers<object>) => void;
  readonly reject: (error: Error) => void;
}

export class CallLane {
  readonly #clock: Clock;
  readonly #send: Send;
  readonly #onIdle: () => void;
  #line: Asked[] = [];
  #isBusy = false;
  /** The call the line waits for; an older one that was given up on frees nothing. */
  #call = 0;
  #patience: TimerHandle | undefined;

  constructor(clock: Clock, send: Send, onIdle: () => void) {
    this.#clock = clock;
    this.#send = send;
    this.#onIdle = onIdle;
  }

  /** The line is as long as requests may be under way: the server bounds its connections. */
  ask(items: readonly object[]): Promise<Answers<object>> {
    return new Promise((resolve, reject) => {
      this.#line.push({ items, parts: partsOf(items), resolve, reject });
      if (this.#isBusy) return;
      this.#isBusy = true;
      queueMicrotask(() => this.#flush());
    });
  }

  #flush(): void {
    const together = this.#take();
    this.#isBusy = together.length > 0;
    if (!this.#isBusy) {
      this.#onIdle();
      return;
    }
    this.#call += 1;
    const call = this.#call;
    this.#patience = this.#clock.after(PATIENCE_MS, () => this.#goOn(call));
    const items = together.flatMap((asked) => asked.items);
    const fail = (error: unknown): void => {
      this.#goOn(call);
      for (const asked of together) asked.reject(error instanceof Error ? error : new Error(String(error)));
    };
    this.#send(items).then((answers) => {
      if (!isWhole(answers, items.length)) return fail(notWhole(items.length));
      this.#goOn(call);
      share(together, answers);
    }, fail);
  }

  #goOn(call: number): void {
    if (call !== this.#call) return;
    this.#patience?.cancel();
    this.#call += 1;
    this.#flush();
  }

  /** As many as fit into one call, at least one: the store itself refuses a list that is too long. */
  #take(): Asked[] {
    let items = 0;
    let parts = 0;
    const over = this.#line.findIndex((asked) => {
      items += asked.items.length;
      parts += asked.parts;
      return items > LIMITS.batchItems || parts > LIMITS.batchParts;
    });
    return this.#line.splice(0, over === -1 ? this.#line.length : Math.max(1, over));
  }
}

/** Where one result is missing nobody can tell whose: no client is given another one's. */
function isWhole(answers: unknown, count: number): boolean {
  const { results } = (answers ?? {}) as { results?: unknown };
  return Array.isArray(results) && results.length === count;
}

function notWhole(count: number): LeaseError {
  const message = `the store did not answer ${count} requests with as many results: it breaks the port, correct the store`;
  return new LeaseError('STORE_UNAVAILABLE', message);
}

/** To each its own part of the results, with the facts of the one reply. */
function share(together: readonly Asked[], { results, ...reply }: Answers<object>): void {
  let from = 0;
  for (const { items, resolve } of together) {
    resolve({ ...reply, results: results.slice(from, from + items.length) });
    from += items.length;
  }
}

function partsOf(items: readonly object[]): number {
  return items.reduce((sum, item) => sum + ((item as { parts?: readonly unknown[] }).parts?.length ?? 1), 0);
}
