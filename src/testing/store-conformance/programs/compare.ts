// Compares one answer of a store with the model's, field by field. Equal means equal but for what each side draws for
// itself: epochs, arrivals and settings versions compare by order, log positions one to one, cursors by presence.
// Hints (`nextAt`) may be early but not late; wall clocks are not compared.
import { LeaseError } from '../../../domain/errors.js';
import type { Call } from './call.js';
import { SameOrder } from './same-order.js';

type Rule = (store: unknown, model: unknown, key: string) => string | undefined;

export class Comparison {
  readonly epochs = new SameOrder();
  readonly #arrivals = new SameOrder();
  readonly #versions = new SameOrder();
  readonly #rowIds = { toModel: new Map<string, string>(), toStore: new Map<string, string>() };

  /** The first difference as a sentence, or undefined. */
  difference(store: unknown, model: unknown): string | undefined {
    return this.#walk(store, model, '', '');
  }

  settingsVersion(store: number, model: number): string | undefined {
    return this.#versions.pair(store, model) ? undefined : differ('settingsVersion', store, model, 'by order');
  }

  /** The call with the epochs the model knows. */
  toModel(call: Call): Call {
    const epoch = <T extends { readonly epoch?: number | undefined }>(request: T): T =>
      request.epoch === undefined ? request : { ...request, epoch: this.epochs.toModel(request.epoch) };
    if (call.op === 'renew') return { ...call, asked: call.asked.map(epoch) };
    if (call.op === 'end') return { ...call, asked: call.asked.map(epoch) };
    if (call.op === 'change') return { ...call, asked: call.asked.map(epoch) };
    if (call.op === 'revoke') {
      return { ...call, asked: { ...call.asked, upToEpoch: this.epochs.toModel(call.asked.upToEpoch) } };
    }
    if (call.op !== 'acquire') return call;
    return {
      ...call,
      asked: call.asked.map((request) =>
        request.upgrades === undefined ? request : { ...request, upgrades: epoch(request.upgrades) },
      ),
    };
  }

  readonly #rules: Readonly<Record<string, Rule>> = {
    epoch: (store, model, at) => inOrder(this.epochs, store, model, at),
    claimEpoch: (store, model, at) => inOrder(this.epochs, store, model, at),
    fromEpoch: (store, model, at) => inOrder(this.epochs, store, model, at),
    revocationEpoch: (store, model, at) => inOrder(this.epochs, store, model, at),
    arrival: (store, model, at) => inOrder(this.#arrivals, store, model, at),
    skewMs: sameKind,
    wallAt: sameKind,
    next: sameKind,
    oldest: sameKind,
    cursor: sameKind,
    nextAt: (store, model, at) =>
      typeof model !== 'number' || (typeof store === 'number' && store <= model)
        ? undefined
        : differ(at, store, model, 'a hint may be early, not late'),
  };

  #walk(store: unknown, model: unknown, at: string, key: string): string | undefined {
    const rule = Object.hasOwn(this.#rules, key) ? this.#rules[key] : undefined;
    if (rule && (store !== undefined || model !== undefined)) return rule(store, model, at);
    if (Array.isArray(store) && Array.isArray(model)) return this.#lists(store, model, at, key);
    if (!isObject(store) || !isObject(model)) return Object.is(store, model) ? undefined : differ(at, store, model);
    if (store instanceof LeaseError || model instanceof LeaseError)
      return this.#walk(facts(store), facts(model), at, '');
    const isLogRow = typeof model['wallAt'] === 'number';
    for (const name of new Set([...Object.keys(model), ...Object.keys(store)])) {
      const place = at === '' ? name : `${at}.${name}`;
      const found =
        isLogRow && name === 'id'
          ? this.#rowId(store[name], model[name], place)
          : this.#walk(store[name], model[name], place, name);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #lists(store: readonly unknown[], model: readonly unknown[], at: string, key: string): string | undefined {
    if (store.length !== model.length) return differ(`${at}.length`, store.length, model.length);
    // Which tickets stand ahead is an answer; the order they are named in is not.
    const [ours, theirs] = key === 'waitsForTickets' ? [[...store].sort(), [...model].sort()] : [store, model];
    for (const [i, item] of ours.entries()) {
      const found = this.#walk(item, theirs[i], `${at}[${i}]`, '');
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #rowId(store: unknown, model: unknown, at: string): string | undefined {
    if (typeof store !== 'string' || typeof model !== 'string') return differ(at, store, model);
    const { toModel, toStore } = this.#rowIds;
    const isSame = (toModel.get(store) ?? model) === model && (toStore.get(model) ?? store) === store;
    toModel.set(store, model);
    toStore.set(model, store);
    return isSame ? undefined : differ(at, store, model, 'one position, two rows');
  }
}

function inOrder(order: SameOrder, store: unknown, model: unknown, at: string): string | undefined {
  const isSame = typeof store === 'number' && typeof model === 'number' && order.pair(store, model);
  return isSame ? undefined : differ(at, store, model, 'by order');
}

/** For what is each side's own: only that it is there, and of which type. */
function sameKind(store: unknown, model: unknown, at: string): string | undefined {
  return typeof store === typeof model ? undefined : differ(at, store, model);
}

function facts(error: unknown): unknown {
  return error instanceof LeaseError ? { code: error.code, message: error.message } : error;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function differ(at: string, store: unknown, model: unknown, how?: string): string {
  const note = how === undefined ? '' : ` (${how})`;
  return `${at === '' ? 'the whole answer' : at}: the store says ${shown(store)}, the model ${shown(model)}${note}`;
}

function shown(value: unknown): string {
  return value === undefined ? 'nothing' : JSON.stringify(value);
}
