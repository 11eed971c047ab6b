// What the actors have asked for and what they were given: operations under way and handles in hand. The checks compare
// it with the store: every lease and ticket there must have somebody here who stands for it (S9).
import type { HeldLease } from '../../src/manager/face.js';
import type { SimulatedProcess } from './simulated-process.js';

export interface Operation {
  /** Goes into the request as `operationId`, so that a row in the store leads back here. */
  readonly key: string;
  readonly process: SimulatedProcess;
  readonly what: string;
  /** Infinity for `'forever'`. */
  readonly waitMs: number;
  /** The process's own monotonic clock. */
  readonly startedAt: number;
  /** The lease it is about, for all but a first acquire. */
  readonly leaseId?: string | undefined;
  abortedAt?: number;
  /** Asked for while holding something. */
  isNested: boolean;
  isSettled: boolean;
}

export interface Handle {
  readonly lease: HeldLease;
  readonly process: SimulatedProcess;
  /** Why it is no longer the actor's: released, abandoned, delegated. */
  letGo?: string;
  /** Renewed by itself, without a bound: in a world where nothing goes wrong it is never lost. */
  readonly isKept: boolean;
  /** Its signal was seen aborted: nothing brings it back. */
  hasAborted: boolean;
}

export class Ledger {
  readonly #operations = new Map<string, Operation>();
  readonly #pending = new Set<Operation>();
  readonly #handles: Handle[] = [];
  readonly #byLease = new Map<string, Handle[]>();
  #count = 0;
  granted = 0;

  begin(process: SimulatedProcess, what: string, waitMs: number, leaseId?: string): Operation {
    this.#count += 1;
    const key = `op-${this.#count}`;
    const startedAt = process.clock.monotonic();
    const operation: Operation = { key, process, what, waitMs, startedAt, leaseId, isNested: false, isSettled: false };
    this.#operations.set(key, operation);
    this.#pending.add(operation);
    process.world.tell(() => `${process.name} asks: ${what} (${key})`);
    return operation;
  }

  settle(operation: Operation, words: () => string): void {
    operation.isSettled = true;
    this.#pending.delete(operation);
    const { process, key, what } = operation;
    process.world.tell(() => `${process.name} is told: ${words()} (${key}: ${what})`);
  }

  hold(process: SimulatedProcess, lease: HeldLease, isKept = false): Handle {
    const handle: Handle = { lease, process, isKept, hasAborted: false };
    this.granted += 1;
    this.#handles.push(handle);
    const others = this.#byLease.get(lease.id);
    if (others) others.push(handle);
    else this.#byLease.set(lease.id, [handle]);
    return handle;
  }

  /** What a killed process asked for stays without an answer. */
  drop(process: SimulatedProcess): void {
    for (const operation of this.#pending) if (operation.process === process) this.#pending.delete(operation);
  }

  operation(key: string | undefined): Operation | undefined {
    return key === undefined ? undefined : this.#operations.get(key);
  }
  get pending(): ReadonlySet<Operation> {
    return this.#pending;
  }
  get handles(): readonly Handle[] {
    return this.#handles;
  }
  handlesOf(leaseId: string): readonly Handle[] {
    return this.#byLease.get(leaseId) ?? [];
  }

  /** Handles nobody can act on any more are forgotten, so that looking at all of them stays cheap. */
  forget(isOver: (handle: Handle) => boolean): void {
    for (let i = this.#handles.length - 1; i >= 0; i -= 1) {
      if (isOver(this.#handles[i] as Handle)) this.#handles.splice(i, 1);
    }
  }
}
