// GET /v1/events (W1): the log as server-sent events, from now on or from the position a client names (`Last-Event-ID`, or
// `after`). A client far behind is read to from the log until it meets what the hub keeps, a few of them at a time; a position
// that is gone is told as `events.lost` with the oldest there is. A stream ends with its client, its token, or the server.
import type { Clock } from '../domain/clock.js';
import { invalid, LeaseError } from '../domain/errors.js';
import { lostEvent, toEvent, type LeaseEvent } from '../domain/events.js';
import { parsePosition } from '../domain/position.js';
import { answerWithin } from '../manager/store-link.js';
import type { Events, Store } from '../stores/store.js';
import { boundFilter } from './access/rules.js';
import type { Caller, ServerLimits, ServerRequest } from './context.js';
import { Waits } from './door/waits.js';
import { endText, EventHub, type HubParts, type Listener } from './event-hub.js';
import { destroyerOf, EventOutlet } from './event-outlet.js';
import { textOf, viewOf, type EventView } from './event-view.js';

/** What a client may leave unread. */
const BUFFER_BYTES = 1_024 * 1_024;
const PAGE = 256;
const CALL_MS = 10_000;
const READING_AT_ONCE = 4;
const STALL_MS = 30_000;
const RETRY_MS = 1_000;

export interface EventQuery {
  readonly prefix?: string | undefined;
  readonly type?: string | undefined;
  readonly after?: string | undefined;
}

export interface EventStreamParts extends HubParts {
  readonly limits: ServerLimits;
  readonly access: ConstructorParameters<typeof Waits>[0];
  readonly draining: AbortSignal;
}

export class EventStream {
  readonly #hub: EventHub;
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #parts: EventStreamParts;
  readonly #stays: Waits;
  #reading = 0;
  readonly #queue: (() => void)[] = [];

  constructor(parts: EventStreamParts) {
    this.#parts = parts;
    this.#hub = new EventHub(parts);
    this.#store = parts.store;
    this.#clock = parts.clock;
    const { eventClients: most, eventClientsPerToken: mostPerToken } = parts.limits;
    this.#stays = new Waits(parts.access, { most, mostPerToken }, parts.draining);
  }

  /** Those who are connected now. */
  get clients(): number {
    return this.#stays.count;
  }

  async open(request: ServerRequest, caller: Caller, query: EventQuery): Promise<Response> {
    const after = request.req.header('last-event-id') ?? query.after;
    if (after !== undefined && !parsePosition(after))
      throw invalid('Last-Event-ID is the id of an event of this stream: leave it out to begin now');
    const { prefix } = boundFilter(caller, { prefix: query.prefix });
    const view = viewOf({ bound: caller.prefix, prefix, type: query.type });
    const stay = this.#stays.begin(caller, request.req.raw.signal);
    const outlet = new EventOutlet(BUFFER_BYTES, destroyerOf(request), () => {
      this.#hub.leave(listener);
      stay.end();
    });
    const listener: Listener = { outlet, view };
    try {
      await this.#hub.enter(listener);
      if (stay.signal.aborted) throw endOf(stay.signal);
    } catch (error) {
      outlet.finish('');
      throw error;
    }
    stay.signal.addEventListener('abort', () => {
      outlet.finish(endText(endOf(stay.signal).code));
    });
    this.#begin(listener, after);
    const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-store', 'x-accel-buffering': 'no' };
    return new Response(outlet.body, { headers });
  }

  #begin(listener: Listener, after: string | undefined): void {
    const { outlet } = listener;
    // A client that goes before its first event can resume all the same.
    outlet.send(`retry: ${RETRY_MS}\nid: ${after ?? this.#hub.last}\n\n`);
    if (after === undefined) this.#hub.join(listener);
    else if (this.#hub.covers(after)) this.#hub.join(listener, after);
    else {
      this.#catchUp(listener, after).catch((error: unknown) => {
        this.#parts.logger.warn({ err: error }, 'a client of the event stream could not be brought up to date');
        outlet.finish(endText(error instanceof LeaseError ? error.code : 'STORE_UNAVAILABLE'));
      });
    }
  }

  async #catchUp(listener: Listener, from: string): Promise<void> {
    const { outlet, view } = listener;
    const { namespace } = this.#store;
    for (let after = from; !outlet.isOver;) {
      const page = await this.#page(after);
      const isLost = page.outcome === 'lost';
      const events = isLost ? [lostEvent(namespace, page.now, page.oldest)] : page.rows.map(toEvent);
      await this.#sendPaced(outlet, events, view);
      after = isLost ? page.oldest : page.next;
      // Sending a page takes as long as the client does, and the hub may have let go of what came meanwhile: only a page with
      // nothing to send is the end.
      const isAtEnd = !isLost && !page.more && page.rows.length === 0;
      if (!isAtEnd && !this.#hub.covers(after)) continue;
      if (!outlet.isOver) this.#hub.join(listener, after);
      return;
    }
  }

  /** A few at a time: a thousand clients that come back at once do not read the log a thousand times at once. */
  async #page(after: string): Promise<Events> {
    if (this.#reading >= READING_AT_ONCE) {
      await new Promise<void>((resolve) => {
        this.#queue.push(resolve);
      });
    }
    this.#reading += 1;
    try {
      return await answerWithin(this.#clock, CALL_MS, 'events', this.#store.events({ after, limit: PAGE }));
    } finally {
      this.#reading -= 1;
      this.#queue.shift()?.();
    }
  }

  /** As fast as the client reads: catching up is no reason to be cut, not reading at all is. */
  async #sendPaced(outlet: EventOutlet, events: readonly LeaseEvent[], view: EventView): Promise<void> {
    for (const event of events) {
      const text = textOf(event, view);
      if (text === undefined) continue;
      outlet.send(text);
      if (outlet.isRoomy) continue;
      const patience = this.#clock.after(STALL_MS, () => outlet.cut());
      await outlet.hasRoom();
      patience.cancel();
    }
  }
}

/** Why a stream has to end. */
function endOf({ reason }: AbortSignal): LeaseError {
  return reason instanceof LeaseError ? reason : new LeaseError('ACQUIRE_ABORTED', 'the client has gone');
}
