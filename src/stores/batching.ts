// Batching (S21): the four list methods of a store, one item at a time, a lane each. How items become lists is in lane.ts.
import type { Clock } from '../domain/clock.js';
import type { Part } from '../domain/part.js';
import type { AcquireRequest, ChangeRequest, EndRequest, RenewRequest } from '../domain/requests.js';
import { Lane, type Answered, type Beside, type Gather, type Heard } from './lane.js';
import type { AcquireResult, ChangeResult, EndResult, RenewResult, Store } from './store.js';

export type { Answered, Gather } from './lane.js';

export class Batching {
  readonly #acquire: Lane<AcquireRequest, AcquireResult>;
  readonly #renew: Lane<RenewRequest, RenewResult>;
  readonly #end: Lane<EndRequest, EndResult>;
  readonly #change: Lane<ChangeRequest, ChangeResult>;

  /** `heard` is told what was asked for as well. */
  constructor(
    store: Store,
    clock?: Clock,
    gather?: Gather,
    heard?: (operation: string, ...answer: Parameters<Heard>) => void,
  ) {
    const of = (operation: string): Heard | undefined => heard && ((at, reply) => heard(operation, at, reply));
    const underWay = { calls: 0 };
    const beside = <Q>(key: Beside<Q>['key']): Beside<Q> | undefined =>
      store.callsAtOnce && { ...store.callsAtOnce, key, underWay };
    const acquire = beside<AcquireRequest>(nameOf);
    const end = beside<EndRequest>(({ id }) => id);
    this.#acquire = new Lane((requests) => store.acquire(requests), clock, gather, acquire, of('acquire'));
    this.#renew = new Lane((requests) => store.renew(requests), clock, gather, undefined, of('renew'));
    this.#end = new Lane((requests) => store.end(requests), clock, gather, end, of('end'));
    this.#change = new Lane((requests) => store.change(requests), clock, gather, undefined, of('change'));
  }

  acquire(request: AcquireRequest, signal?: AbortSignal): Promise<Answered<AcquireResult>> {
    return this.#acquire.ask(request, signal);
  }
  renew(request: RenewRequest, signal?: AbortSignal): Promise<Answered<RenewResult>> {
    return this.#renew.ask(request, signal);
  }
  end(request: EndRequest, signal?: AbortSignal): Promise<Answered<EndResult>> {
    return this.#end.ask(request, signal);
  }
  change(request: ChangeRequest, signal?: AbortSignal): Promise<Answered<ChangeResult>> {
    return this.#change.ask(request, signal);
  }

  /** What has not been sent yet is not sent at all; true when it was there. */
  withdraw(request: object): boolean {
    return this.#lanes().some((lane) => lane.withdraw(request));
  }
  /** When it left on its way, on the monotonic clock: Infinity while it stands in a line. */
  leftAt(request: object): number {
    for (const lane of this.#lanes()) {
      const at = lane.leftAt(request);
      if (at !== undefined) return at;
    }
    return -Infinity;
  }

  #lanes(): readonly { withdraw(request: object): boolean; leftAt(request: object): number | undefined }[] {
    return [this.#acquire, this.#renew, this.#end, this.#change];
  }
}

/** Of one node: sets and subtrees overlap names that are not their own. */
function nameOf({ parts = [] }: { readonly parts?: readonly Part[] | undefined }): string | undefined {
  const [part] = parts;
  return parts.length === 1 && part?.scope === 'node' ? part.name : undefined;
}
