// What happens in this process, told to whoever listens (A8). Each listener that was there when an event was announced
// gets it once, in the order of the announcements, unless it has left meanwhile.
//
// Delivery is a microtask of its own: a listener may call back into the manager and never meets it in the middle of a
// step. What a listener throws, or rejects with, is logged and reaches neither the announcer nor the others (S12).
import type { Clock } from '../domain/clock.js';
import { invalid, shown } from '../domain/errors.js';
import {
  LOCAL_TYPES,
  STORED_TYPES,
  toLocalEvent,
  type EventFacts,
  type EventType,
  type LeaseEvent,
} from '../domain/events.js';
import type { Logger } from './logger.js';

export type EventListener = (event: LeaseEvent<EventType>) => void;

interface Subscription {
  readonly type: EventType | '*';
  /** Typed by what may come back: an async function is a listener too, and its promise may reject. */
  readonly listener: (event: LeaseEvent<EventType>) => unknown;
}
interface Delivery {
  readonly event: LeaseEvent<EventType>;
  readonly to: readonly Subscription[];
}

const TYPES: ReadonlySet<unknown> = new Set([...STORED_TYPES, ...LOCAL_TYPES]);

export class EventBus {
  readonly #namespace: string;
  readonly #clock: Clock;
  readonly #logger: Logger;
  readonly #subscriptions = new Set<Subscription>();
  /** Empty again within the turn of the loop: whatever is in it goes out in the next microtask. */
  #waiting: Delivery[] = [];
  #count = 0;

  constructor(options: { readonly namespace: string; readonly clock: Clock; readonly logger: Logger }) {
    this.#namespace = options.namespace;
    this.#clock = options.clock;
    this.#logger = options.logger;
  }

  /** Each call is a subscription of its own; the function it answers ends that one. */
  on(type: EventType | '*', listener: EventListener): () => void {
    if (type !== '*' && !TYPES.has(type)) {
      throw invalid(`unknown event type ${shown(type)}: known are *, ${[...TYPES].join(', ')}`);
    }
    if (typeof listener !== 'function') throw invalid(`a listener is a function, got ${shown(listener)}`);
    const subscription = { type, listener };
    this.#subscriptions.add(subscription);
    return () => void this.#subscriptions.delete(subscription);
  }

  /** Whether anybody would hear an event of this type. */
  isHeard(type: EventType): boolean {
    for (const subscription of this.#subscriptions) {
      if (subscription.type === '*' || subscription.type === type) return true;
    }
    return false;
  }

  /** Never throws and never waits. Without a listener nothing is built. */
  announce(facts: EventFacts): void {
    if (this.#subscriptions.size === 0) return;
    const to = [...this.#subscriptions].filter(({ type }) => type === '*' || type === facts.type);
    if (to.length === 0) return;
    try {
      this.#count += 1;
      const home = { id: `local-${this.#count}`, namespace: this.#namespace, wallAt: this.#clock.wall() };
      this.#waiting.push({ event: toLocalEvent(facts, home), to });
    } catch (error) {
      this.#logger.error({ err: error, type: facts.type }, 'an event could not be put into words');
      return;
    }
    if (this.#waiting.length === 1) queueMicrotask(() => this.#deliver());
  }

  #deliver(): void {
    const batch = this.#waiting;
    this.#waiting = [];
    for (const { event, to } of batch) {
      for (const subscription of to) if (this.#subscriptions.has(subscription)) this.#tell(subscription, event);
    }
  }

  #tell({ listener }: Subscription, event: LeaseEvent<EventType>): void {
    const failed = (error: unknown): void => {
      this.#logger.error({ err: error, type: event.type, eventId: event.id }, 'a listener of events failed');
    };
    try {
      const answer = listener(event);
      if (typeof answer === 'object' && answer !== null && 'then' in answer) Promise.resolve(answer).catch(failed);
    } catch (error) {
      failed(error);
    }
  }
}
