// The document a delegated lease travels in, from `delegate` to `resume`: plain JSON that names the lease, its epoch and
// the world it belongs to. It is an authority: who has it can take the lease over, so it is passed on like a secret.
import { isEpoch } from '../domain/epoch.js';
import { invalid } from '../domain/errors.js';
import { checkId } from '../domain/ids.js';
import type { Lease } from '../domain/lease.js';
import { LIMITS } from '../domain/limits.js';
import type { Store } from '../stores/store.js';
import type { HoldTerms } from './plan.js';

const FORMAT = 'holdfast-lease-1';

export interface DelegatedLease {
  readonly format: typeof FORMAT;
  readonly namespace: string;
  readonly id: string;
  readonly epoch: number;
  readonly owner: string;
  readonly resources: readonly string[];
  readonly ttlMs: number;
  readonly renew: 'auto' | 'manual';
}

export function writeDocument(store: Store, lease: Lease, terms: HoldTerms): string {
  const document: DelegatedLease = {
    format: FORMAT,
    namespace: store.namespace,
    id: lease.id,
    epoch: lease.epoch,
    owner: lease.owner,
    resources: lease.parts.map((part) => part.name),
    ttlMs: lease.ttlMs,
    renew: terms.isAuto ? 'auto' : 'manual',
  };
  return JSON.stringify(document);
}

/** Takes the text, or the object it parses to. */
export function readDocument(json: unknown, store: Store): DelegatedLease {
  const value = typeof json === 'string' ? parse(json) : json;
  if (typeof value !== 'object' || value === null) throw notOurs();
  const { format, namespace, id, epoch, owner, resources, ttlMs, renew } = value as Partial<
    Record<keyof DelegatedLease, unknown>
  >;
  if (format !== FORMAT || typeof namespace !== 'string' || !isEpoch(epoch)) throw notOurs();
  if (typeof owner !== 'string' || !isNames(resources) || !isTtl(ttlMs)) throw notOurs();
  if (renew !== 'auto' && renew !== 'manual') throw notOurs();
  checkId(id);
  if (namespace !== store.namespace) {
    throw invalid(
      `this lease belongs to namespace ${namespace}: connect with { namespace: '${namespace}' } to resume it`,
    );
  }
  return value as DelegatedLease;
}

function isNames(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((name) => typeof name === 'string');
}

function isTtl(value: unknown): boolean {
  return Number.isSafeInteger(value) && (value as number) >= LIMITS.minTtlManualMs && (value as number) <= LIMITS.ttlMs;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw notOurs();
  }
}

function notOurs(): Error {
  return invalid('resume() takes the text that lease.delegate() answered, unchanged');
}
