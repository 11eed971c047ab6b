// Many worlds, one after the other, until one fails. That one is shrunk, and both are told.
import { shrink } from './shrink.js';
import { runOrder, type Kind, type WorldOrder } from './worlds.js';

/** The seeds `first` to `last` of one kind. */
export interface Batch {
  readonly kind: Kind;
  readonly first: number;
  readonly last: number;
}

export interface Failure {
  readonly order: WorldOrder;
  readonly message: string;
  readonly story: string;
  /** The shortest that was found, which fails by the same rule. */
  readonly shrunk: {
    readonly order: WorldOrder;
    readonly message: string;
    readonly story: string;
    readonly tried: number;
  };
}

export interface BatchResult {
  readonly worlds: number;
  readonly events: number;
  /** Leases granted, or commits answered. */
  readonly grants: number;
  readonly virtualMs: number;
  /** Of the processor, which a busy machine changes less than the clock on the wall. */
  readonly cpuMs: number;
  readonly failure?: Failure;
}

export async function runBatch({ kind, first, last }: Batch): Promise<BatchResult> {
  const sums = { worlds: 0, events: 0, grants: 0, virtualMs: 0, cpuMs: 0 };
  const before = process.cpuUsage();
  for (let seed = first; seed <= last; seed += 1) {
    const order = { kind, seed };
    const result = await runOrder(order);
    sums.worlds += 1;
    sums.events += result.events;
    sums.grants += result.grants;
    sums.virtualMs += result.virtualMs;
    const { user, system } = process.cpuUsage(before);
    sums.cpuMs = (user + system) / 1_000;
    if (result.finding) return { ...sums, failure: await failureOf(order) };
  }
  return sums;
}

async function failureOf(order: WorldOrder): Promise<Failure> {
  const told = await runOrder(order, true);
  const small = await shrink(order, told);
  const again = await runOrder(small.order, true);
  const { order: least, tried } = small;
  return {
    order,
    message: told.finding?.message ?? 'it fails, and not when it is told',
    story: told.finding?.story ?? '',
    shrunk: { order: least, tried, message: again.finding?.message ?? '', story: again.finding ? again.story() : '' },
  };
}
