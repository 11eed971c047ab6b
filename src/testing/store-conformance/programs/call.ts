// One call of the port as data, so that the same call can be put to a store and to the model and then be printed.
// What is opaque and differs between the two (positions, cursors) travels as a pair of both spellings.
import { checkBatch, checkLimit } from '../../../domain/check-request.js';
import type {
  AcquireRequest,
  ChangeRequest,
  EndRequest,
  EventQuery,
  ListFilter,
  RenewRequest,
  RevokeOrder,
} from '../../../domain/requests.js';
import type { Model } from '../../../stores/memory/model.js';
import type { Answers, EndResult, PruneOrder, Reply, Store } from '../../../stores/store.js';

/** A position or cursor as the store spelled it and as the model did. */
export interface Spot {
  readonly store: string;
  readonly model: string;
}

export type Call =
  | { readonly op: 'acquire'; readonly asked: readonly AcquireRequest[] }
  | { readonly op: 'renew'; readonly asked: readonly RenewRequest[] }
  | { readonly op: 'end'; readonly asked: readonly EndRequest[] }
  | { readonly op: 'change'; readonly asked: readonly ChangeRequest[] }
  | { readonly op: 'revoke'; readonly asked: RevokeOrder }
  | { readonly op: 'failTicket'; readonly asked: { readonly id: string; readonly cycle: readonly string[] } }
  | { readonly op: 'sweep'; readonly asked: { readonly limit: number } }
  | { readonly op: 'events'; readonly asked: EventQuery; readonly from?: Spot | undefined }
  | { readonly op: 'prune'; readonly asked: PruneOrder; readonly upTo?: Spot | undefined }
  | { readonly op: 'settings'; readonly asked: null }
  | { readonly op: 'setSettings'; readonly asked: Readonly<Record<string, unknown>> }
  | { readonly op: 'waitGraph'; readonly asked: null }
  | { readonly op: 'get'; readonly asked: readonly string[] }
  | { readonly op: 'list'; readonly asked: ListFilter; readonly cursor?: Spot | undefined }
  | { readonly op: 'show'; readonly asked: { readonly resource: string; readonly historyLimit: number } }
  | { readonly op: 'time'; readonly asked: null };

export function askStore(store: Store, call: Call): Promise<Reply> {
  switch (call.op) {
    case 'acquire':
      return store.acquire(call.asked);
    case 'renew':
      return store.renew(call.asked);
    case 'end':
      return store.end(call.asked);
    case 'change':
      return store.change(call.asked);
    case 'revoke':
      return store.revoke(call.asked);
    case 'failTicket':
      return store.failTicket(call.asked);
    case 'sweep':
      return store.sweep(call.asked);
    case 'events':
      return store.events(fromSpot(call.asked, call.from?.store));
    case 'prune':
      return store.prune({ ...call.asked, upTo: call.upTo?.store });
    case 'settings':
      return store.settings();
    case 'setSettings':
      return store.setSettings(call.asked);
    case 'waitGraph':
      return store.waitGraph();
    case 'get':
      return store.get(call.asked);
    case 'list':
      return store.list({ ...call.asked, cursor: call.cursor?.store });
    case 'show':
      return store.show(call.asked.resource, call.asked.historyLimit);
    case 'time':
      return store.time();
  }
}

/** What the model answers at `now`, without the fields every reply carries. Epochs in `call` are the model's own. Whether a release hands
 *  over is the store's to choose, and to whom the model's (Q1): it hands over to those the store says it did, if it may. */
export function askModel(model: Model, call: Call, now: number, wall: number, answer?: Reply): object {
  switch (call.op) {
    case 'acquire':
      checkBatch(call.asked);
      return { results: model.acquire(model.step(now, wall), call.asked) };
    case 'renew':
      checkBatch(call.asked);
      return { results: model.renew(model.step(now, wall), call.asked) };
    case 'end':
      checkBatch(call.asked);
      return { results: model.end(model.step(now, wall, { isMeant: handedIn(answer), done: [] }), call.asked) };
    case 'change':
      checkBatch(call.asked);
      return { results: model.change(model.step(now, wall), call.asked) };
    case 'revoke':
      return model.revoke(model.step(now, wall), call.asked);
    case 'failTicket':
      return model.failTicket(model.step(now, wall), call.asked);
    case 'sweep':
      return model.sweep(model.step(now, wall), call.asked);
    case 'events':
      return model.events(fromSpot(call.asked, call.from?.model));
    case 'prune':
      return model.prune(now, { ...call.asked, upTo: call.upTo?.model });
    case 'settings':
      return { settings: model.settings };
    case 'setSettings':
      return { settings: model.setSettings(call.asked) };
    case 'waitGraph':
      return model.waitGraph(now);
    case 'get':
      checkLimit(Math.max(1, call.asked.length));
      return { items: model.get(now, call.asked) };
    case 'list':
      return model.list(now, { ...call.asked, cursor: call.cursor?.model });
    case 'show': {
      const { history, ...standing } = model.show(now, call.asked.resource, call.asked.historyLimit);
      return { ...standing, history: history.outcome === 'rows' ? history.rows : [] };
    }
    case 'time':
      return { epoch: model.epoch };
  }
}

function handedIn(answer: Reply | undefined): (ticket: { readonly id: string }) => boolean {
  const results = answer === undefined ? [] : (answer as Answers<EndResult>).results;
  const ids = results.map((result) => (result.outcome === 'released' ? result.handedTo?.id : undefined));
  return ({ id }) => ids.includes(id);
}

function fromSpot(query: EventQuery, position: string | undefined): EventQuery {
  return query.backward ? { ...query, before: position } : { ...query, after: position };
}
