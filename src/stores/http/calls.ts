// What all namespaces of one HTTP store share: the way to the server, the hints, and how each method of the port is sent.
// A call rides in batches unless it may take long (domain/riding-calls.ts); it is sent again over another connection only where doing it twice is
// doing it once, because it is known by an id (S5, S8) or only looks.
import type { Clock } from '../../domain/clock.js';
import { checkBatch, checkItem } from '../../domain/check-request.js';
import { LeaseError } from '../../domain/errors.js';
import { mayRide } from '../../domain/riding-calls.js';
import type { Answers, Failed, Reply } from '../store.js';
import { decodeResults, encodeArgs, encodeList } from './codec.js';
import { Hints } from './hints.js';
import { Sender, type HowToSend } from './sender.js';
import { closed } from './translate-error.js';
import type { Transport } from './transport.js';

/** Known by an id, or only looking: doing it twice is doing it once. */
const REPEATABLE: ReadonlySet<string> = new Set([
  ...['acquire', 'renew', 'end', 'change', 'get', 'settings', 'time'],
  ...['events', 'waitGraph', 'list', 'show', 'info'],
  ...['sequences.ready', 'sequences.lease', 'sequences.progress', 'sequences.commit', 'sequences.release'],
  ...['sequences.append', 'sequences.fill', 'sequences.renewClaims', 'sequences.barrier'],
  ...['sequences.read', 'sequences.gaps', 'sequences.manualItems', 'sequences.streams'],
]);

function howToSend(method: string, args: readonly unknown[]): HowToSend {
  return { isAlone: !mayRide(method, args), isRepeatable: REPEATABLE.has(method) };
}

export class Calls {
  readonly where: string;
  readonly hints: Hints;
  readonly #sender: Sender;
  #isClosed = false;

  constructor(transport: Transport, clock: Clock) {
    this.where = transport.where;
    this.hints = new Hints(transport, clock);
    this.#sender = new Sender(transport, clock);
  }

  async one<T extends object>(namespace: string, method: string, args: readonly unknown[]): Promise<T> {
    this.checkOpen();
    return (await this.#sender.call(method, namespace, encodeArgs(args), howToSend(method, args))) as T;
  }

  /** S21: what is wrong with an item is found before anything is sent; it fails alone. */
  async items<Q extends object, R>(
    namespace: string,
    method: string,
    requests: readonly Q[],
    check: (request: Q) => unknown,
  ): Promise<Answers<R>> {
    this.checkOpen();
    checkBatch(requests);
    const failed = new Map<number, Failed>();
    const items = requests.filter((request, i) => {
      const error = refused(request, check);
      if (error) failed.set(i, { outcome: 'failed', error });
      return !error;
    });
    const answers = await this.#inPieces<R>(namespace, method, items);
    if (failed.size === 0) return answers;
    let next = 0;
    const results = requests.map((_, i) => failed.get(i) ?? (answers.results[next++] as R | Failed));
    return { ...answers, results };
  }

  /** Items act in order, each for itself, so a list may come in several requests; the last reply speaks for all. */
  async #inPieces<R>(namespace: string, method: string, items: readonly object[]): Promise<Answers<R>> {
    const results: (R | Failed)[] = [];
    let last: Reply | undefined;
    const how = howToSend(method, [items]);
    for (const { args, count } of encodeList(items)) {
      const answer = (await this.#sender.call(method, namespace, args, how)) as Answers<R>;
      results.push(...decodeResults<R>(answer.results, count, this.where));
      last = answer;
    }
    return { ...(last as Reply), results };
  }

  checkOpen(): void {
    if (this.#isClosed) throw closed();
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.hints.close();
    this.#sender.close();
  }
}

function refused<Q extends object>(request: Q, check: (request: Q) => unknown): LeaseError | undefined {
  try {
    checkItem(request);
    check(request);
    return undefined;
  } catch (error) {
    if (error instanceof LeaseError) return error;
    throw error;
  }
}
