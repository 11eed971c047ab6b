// Calls of the port that came over HTTP: checked against the schema, against what the caller may do, put to the store, and
// answered as the caller may see it. What the schema or the rules refuse in one item fails that item alone (S21); what the
// store cannot do is the store's own LeaseError. Nothing here waits: a request that is to wait comes again by itself (Q2).
import type { z } from 'zod';
import { checkBatch, checkNamespace } from '../../domain/check-request.js';
import { invalid, LeaseError } from '../../domain/errors.js';
import type { StreamHead } from '../../stores/sequence-store.js';
import type { Answers, Store } from '../../stores/store.js';
import { audit, mayDo, requireRole } from '../access/index.js';
import type { Caller, ServerContext } from '../context.js';
import { TicketLimit } from '../door/index.js';
import { CallLane } from './call-lane.js';
import { portMethod, type ListMethod, type OneMethod } from './methods.js';
import { Namespaces } from './namespaces.js';
import { foreignNumbers, refuseLeased } from './number-owners.js';
import { lookUp, permitItem, permitNamespace, permitOrder, type Known } from './permits.js';
import type { Tickets } from './tickets.js';
import { askVisible, failedItem, visibleAnswer, visibleResult } from './visible.js';

export interface Call {
  readonly method: string;
  readonly namespace?: string | undefined;
  readonly args: readonly unknown[];
}

/** Who asks, and which of its processes. */
export interface Asker {
  readonly caller: Caller;
  readonly client: string;
}

export class StoreCalls {
  readonly #context: ServerContext;
  readonly #tickets: Tickets;
  readonly #ticketLimit: TicketLimit;
  readonly #lanes = new Map<string, CallLane>();
  readonly #namespaces: Namespaces;

  /** `isHeard`: whether a client hears hints of a namespace. */
  constructor(context: ServerContext, tickets: Tickets, isHeard: (namespace: string) => boolean) {
    this.#context = context;
    this.#tickets = tickets;
    this.#namespaces = new Namespaces(context.clock, isHeard);
    this.#ticketLimit = new TicketLimit(context.clock, context.limits.waitsPerToken);
  }

  storeOf(namespace: string, caller: Caller, mayWrite = false): Store {
    const { store } = this.#context;
    if (namespace === store.namespace) return store;
    this.#namespaces.meet(namespace, caller, mayWrite);
    return store.within(namespace);
  }

  async run(call: Call, asker: Asker): Promise<object> {
    const method = portMethod(call.method);
    const namespace = call.namespace === undefined ? this.#context.store.namespace : checkNamespace(call.namespace);
    requireRole(asker.caller, method.role);
    permitNamespace(asker.caller, namespace);
    const store = this.storeOf(namespace, asker.caller, method.role !== 'read');
    if (method.takes === 'list') return this.#list(method, store, call, asker);
    return this.#one(method, store, call, asker.caller);
  }

  async #one(method: OneMethod, store: Store, call: Call, caller: Caller): Promise<object> {
    const args = checked(method.args, call.args, 'the arguments');
    const permitted = await permitOrder(store, call.method, caller, args);
    const reply = await askVisible(call.method, caller, permitted, (asked) => method.call(store, asked));
    const isLook = call.method === 'sequences.read' || call.method === 'sequences.barrier';
    if (isLook && !mayDo(caller, 'admin')) {
      const { stream } = args[0] as { stream: string };
      this.#context.recovery.saw(store.namespace, stream, reply as StreamHead); // an admin's process recovers by itself
    }
    const answer = visibleAnswer(call.method, caller, reply);
    if (AUDITED.has(call.method)) this.#audit(caller, call.method, {}, 'done');
    return answer;
  }

  async #list(method: ListMethod, store: Store, call: Call, asker: Asker): Promise<object> {
    const { caller } = asker;
    const [given, ...more] = call.args;
    if (!Array.isArray(given) || more.length > 0) throw invalid(`${call.method} takes one list`);
    checkBatch(given as object[]); // what is too long costs nothing more
    const refused = new Map<number, object>();
    const items = this.#checkedItems(method, given, refused);
    const known = await lookUp(
      store,
      caller,
      call.method,
      items.map(({ item }) => item),
    );
    const foreign = await this.#foreignNumbers(store, call.method, caller, items);
    const reserved: string[] = [];
    const permitted = items.flatMap(({ at, item }) => {
      const allowed = foreign.get(item) ?? attempt(() => this.#permitted(call.method, caller, item, known, reserved));
      if (!(allowed instanceof LeaseError)) return [allowed];
      refused.set(at, failedItem(allowed));
      return [];
    });
    if (call.method === 'acquire') this.#tickets.asked(asker.client, permitted);
    const answers = await this.#lane(method, store, call.method)
      .ask(permitted)
      .catch((error: unknown) => {
        for (const id of reserved) this.#ticketLimit.gone(caller, id);
        throw error;
      });
    this.#learn(call.method, asker, permitted, answers);
    const [first] = permitted as readonly { stream?: string }[];
    if (call.method === 'sequences.lease' && first?.stream !== undefined)
      this.#context.recovery.leased(store.namespace, first.stream);
    let next = 0;
    const results = given.map((_, at) => refused.get(at) ?? seenBy(caller, answers.results[next++] as object));
    return { ...answers, results };
  }

  async #foreignNumbers(
    { sequences }: Store,
    method: string,
    caller: Caller,
    items: readonly { readonly item: object }[],
  ): Promise<ReadonlyMap<object, LeaseError>> {
    const [half, name = ''] = method.split('.');
    if (half !== 'sequences' || !sequences) return new Map();
    return foreignNumbers(
      sequences,
      caller,
      name,
      items.map(({ item }) => item),
    );
  }

  #checkedItems(
    method: ListMethod,
    given: readonly unknown[],
    refused: Map<number, object>,
  ): { at: number; item: object }[] {
    return given.flatMap((value, at) => {
      const item = attempt(() => checked(method.item, value, 'an item'));
      if (!(item instanceof LeaseError)) return [{ at, item }];
      refused.set(at, failedItem(item));
      return [];
    });
  }

  /** A ticket that may come of it is counted at once: the next item, and the next call of the batch, find it counted (W5). */
  #permitted(method: string, caller: Caller, item: object, known: Known, reserved: string[]): object {
    const permitted = permitItem(method, caller, item, known);
    const { id, join } = item as { id: string; join?: boolean };
    if (method === 'acquire' && join === true && this.#ticketLimit.reserve(caller, id)) reserved.push(id);
    return permitted;
  }

  #lane(method: ListMethod, store: Store, name: string): CallLane {
    const key = `${name} ${store.namespace}`;
    const known = this.#lanes.get(key);
    if (known) return known;
    const lane = new CallLane(
      this.#context.clock,
      (items) => method.call(store, items),
      () => this.#lanes.delete(key),
    );
    this.#lanes.set(key, lane);
    return lane;
  }

  /** What the answers say of tickets, and the line in the log for what changed hands. */
  #learn(method: string, { caller, client }: Asker, items: readonly object[], { results }: Answers<object>): void {
    const isAboutTickets = method === 'acquire' || method === 'end';
    if (isAboutTickets) this.#tickets.answered(client, items, results);
    for (const [i, result] of results.entries()) {
      const { outcome } = result as { outcome: string };
      const { id: leaseId, owner } = items[i] as { id?: string; owner?: string };
      if (isAboutTickets && leaseId !== undefined) {
        if (outcome === 'queued') this.#ticketLimit.queued(caller, leaseId);
        else this.#ticketLimit.gone(caller, leaseId);
      }
      if (caller.tokenId === undefined || UNREMARKABLE.has(outcome)) continue;
      this.#audit(caller, method, { leaseId, owner }, outcome);
    }
  }

  #audit(
    caller: Caller,
    operation: string,
    facts: { leaseId?: string | undefined; owner?: string | undefined },
    outcome: string,
  ): void {
    audit(this.#context.logger, caller, { operation, ...facts, outcome });
  }
}

/** Outcomes that change nobody's hands. */
const UNREMARKABLE: ReadonlySet<string> = new Set(['renewed', 'queued', 'kept', 'refused']);

/** Orders that change what is not the caller's own. */
const AUDITED: ReadonlySet<string> = new Set([
  ...['revoke', 'failTicket', 'prune', 'setSettings', 'migrate'],
  ...['sequences.claim', 'sequences.trim', 'sequences.manual', 'sequences.cursor'],
]);

function seenBy(caller: Caller, result: object): object {
  const refusal = refuseLeased(caller, result);
  return refusal ? failedItem(refusal) : visibleResult(caller, result);
}

function attempt<T extends object>(act: () => T): T | LeaseError {
  try {
    return act();
  } catch (error) {
    if (error instanceof LeaseError) return error;
    throw error;
  }
}

function checked<T>(schema: z.ZodType<T>, value: unknown, where: string): T {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const path = (issue?.path ?? []).map(String).join('.');
  throw invalid(`${path === '' ? where : `${path} in ${where}`}: ${issue?.message ?? 'not as expected'}`);
}
