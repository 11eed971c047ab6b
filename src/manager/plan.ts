// From what a caller asked for to what will be sent: options, the manager's own defaults and the settings of the store,
// in that order, checked together (S14, S18). Everything wrong is said here, before anything is sent.
import {
  checkMaxRenewals,
  checkMetadata,
  checkOperationId,
  checkOwner,
  checkPriority,
} from '../domain/check-request.js';
import { checkKeys } from '../domain/check-keys.js';
import { parseDuration } from '../domain/duration.js';
import { invalid, shown } from '../domain/errors.js';
import { LIMITS, TICKET_LIFE_MS } from '../domain/limits.js';
import { normaliseParts, type Part, type Resources } from '../domain/part.js';
import type { Settings } from '../domain/settings.js';
import { checkTiming, defaultRequestTimeoutMs } from '../domain/trust-window.js';
import type { AcquireOptions, Wait } from './face.js';

/** What one connection was given. */
export interface Defaults {
  readonly owner: string;
  readonly ttlMs?: number | undefined;
  readonly waitMs?: number | undefined;
  readonly renewAt: number;
  readonly requestTimeoutMs?: number | undefined;
  /** What the store can do at least. */
  readonly minTtlMs: number;
  /** The ttl for `'adaptive'` (O1). */
  readonly adaptiveTtlMs: (parts: readonly Part[], settings: Settings) => number;
}

/** How a held lease is looked after. */
export interface HoldTerms {
  readonly isAuto: boolean;
  readonly renewAt: number;
  readonly requestTimeoutMs: number;
  readonly progressWithinMs?: number | undefined;
}

export interface Plan {
  readonly parts: readonly Part[];
  readonly owner: string;
  readonly ttlMs: number;
  /** Infinity for `'forever'`, 0 for one attempt. */
  readonly waitMs: number;
  /** Of the wait, what the reading of the settings took. */
  readonly spentMs?: number;
  readonly priority: number;
  readonly maxRenewals: number;
  readonly maxHoldMs?: number | undefined;
  readonly minHoldMs: number;
  readonly lockDelayMs: number;
  readonly reclaim: boolean;
  /** Whoever lets go may claim for it (Q1), where what a ticket has left is enough to begin with: it is renewed soon. */
  readonly handOver: boolean;
  readonly operationId?: string | undefined;
  readonly metadata?: unknown;
  readonly signal?: AbortSignal | undefined;
  readonly terms: HoldTerms;
}

const KNOWN: ReadonlySet<string> = new Set<keyof AcquireOptions>([
  'owner',
  'ttl',
  'wait',
  'mode',
  'limit',
  'scope',
  'priority',
  'maxRenewals',
  'maxHold',
  'minHold',
  'lockDelay',
  'progressWithin',
  'reclaim',
  'renew',
  'operationId',
  'metadata',
  'signal',
]);

/** `waitMs`, where it is given, is not asked for but meant. */
export function planOf(
  resources: Resources,
  options: AcquireOptions,
  defaults: Defaults,
  settings: Settings,
  waitMs?: number,
): Plan {
  checkShape(options);
  const { mode, limit, scope } = options;
  const isSimple = mode === undefined && limit === undefined && scope === undefined;
  const parts = isSimple ? normaliseParts(resources) : normaliseParts(resources, partDefaults(options));
  if (limit !== undefined && !parts.some((part) => part.mode === 'shared')) {
    throw invalid("limit needs mode 'shared': an exclusive lease has one holder");
  }
  const isAuto = options.renew !== 'manual';
  const maxHoldMs = optional(options.maxHold, 'maxHold', LIMITS.minTtlManualMs, LIMITS.maxHoldMs);
  const ttlMs = Math.min(ttlOf(options, parts, isAuto, defaults, settings), maxHoldMs ?? Infinity);
  const requestTimeoutMs = defaults.requestTimeoutMs ?? defaultRequestTimeoutMs(ttlMs);
  const terms: HoldTerms = {
    isAuto,
    renewAt: defaults.renewAt,
    requestTimeoutMs,
    progressWithinMs: optional(options.progressWithin, 'progressWithin', 1, LIMITS.maxHoldMs),
  };
  if (isAuto)
    checkTiming({ ttlMs, renewAt: terms.renewAt, requestTimeoutMs }, Math.max(LIMITS.minTtlAutoMs, defaults.minTtlMs));
  const allowedMs = waitMs ?? waitOf(options.wait, defaults, settings);
  return {
    parts,
    owner: options.owner === undefined ? defaults.owner : checkOwner(options.owner),
    ttlMs,
    waitMs: allowedMs,
    priority: options.priority === undefined ? 0 : checkPriority(options.priority),
    maxRenewals: options.maxRenewals === undefined ? settings.max_renewals : checkMaxRenewals(options.maxRenewals),
    maxHoldMs,
    minHoldMs: optional(options.minHold, 'minHold', 0, LIMITS.minHoldMs) ?? 0,
    lockDelayMs: optional(options.lockDelay, 'lockDelay', 0, LIMITS.lockDelayMs) ?? 0,
    reclaim: options.reclaim ?? false,
    handOver: isAuto && allowedMs > 0 && canBeginAsTicket(ttlMs),
    operationId: options.operationId === undefined ? undefined : checkOperationId(options.operationId),
    metadata: options.metadata === undefined ? undefined : copied(options.metadata),
    signal: options.signal,
    terms,
  };
}

/** What was asked, whatever the caller does to its objects before it can be planned (S8). */
export function asAsked<T extends AcquireOptions>(resources: Resources, options: T): [Resources, T] {
  const one = <P>(part: P): P => (typeof part === 'object' && part !== null ? { ...part } : part);
  const parts = Array.isArray(resources) ? resources.map(one) : one(resources);
  if (typeof options !== 'object' || options === null || options.metadata === undefined) return [parts, one(options)];
  return [parts, { ...options, metadata: copied(options.metadata) }];
}

function partDefaults({ mode, limit, scope }: AcquireOptions): Parameters<typeof normaliseParts>[1] {
  return {
    ...(mode === undefined ? {} : { mode }),
    ...(limit === undefined ? {} : { limit }),
    ...(scope === undefined ? {} : { scope }),
  };
}

/** A request is repeated under one id: what the caller does to its own object meanwhile must not change it (S8). */
function copied(metadata: unknown): unknown {
  const text = checkMetadata(metadata);
  return text === undefined ? undefined : JSON.parse(text);
}

function checkShape(options: AcquireOptions): void {
  checkKeys(options, KNOWN);
  const { renew, reclaim, signal } = options;
  if (renew !== undefined && renew !== 'auto' && renew !== 'manual') {
    throw invalid(`renew is 'auto' or 'manual', got ${shown(renew)}`);
  }
  if (reclaim !== undefined && typeof reclaim !== 'boolean') {
    throw invalid(`reclaim is true or false, got ${shown(reclaim)}`);
  }
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw invalid(`signal is an AbortSignal, got ${shown(signal)}`);
  }
}

function ttlOf(
  { ttl }: AcquireOptions,
  parts: readonly Part[],
  isAuto: boolean,
  defaults: Defaults,
  settings: Settings,
): number {
  const isAdaptive = ttl === undefined && defaults.ttlMs === undefined && settings.adaptive_ttl_enabled && isAuto;
  if (ttl === 'adaptive' || isAdaptive) return defaults.adaptiveTtlMs(parts, settings);
  const minMs = Math.max(LIMITS.minTtlManualMs, defaults.minTtlMs);
  if (ttl !== undefined) return parseDuration(ttl, { name: 'ttl', minMs, maxMs: LIMITS.ttlMs });
  if (defaults.ttlMs !== undefined) return defaults.ttlMs;
  return Math.round((isAuto ? settings.held_ttl_seconds : settings.default_ttl_seconds) * 1_000);
}

/** A lease that lives much longer than a ticket is not to begin as one: a holder that blocks its loop at once would lose it long before its
 *  time, and the margin of its ttl would leave little to believe in. */
const LONGEST_TO_BEGIN_AS_TICKET_MS = 3 * TICKET_LIFE_MS;

function canBeginAsTicket(ttlMs: number): boolean {
  return ttlMs >= TICKET_LIFE_MS && ttlMs <= LONGEST_TO_BEGIN_AS_TICKET_MS;
}

function waitOf(wait: Wait | undefined, defaults: Defaults, settings: Settings): number {
  const waitMs = wait === undefined ? (defaults.waitMs ?? settings.acquisition_timeout_ms) : parseWait(wait);
  return settings.blocking_mode_enabled ? waitMs : 0;
}

export function parseWait(wait: Wait): number {
  return wait === 'forever' ? Infinity : parseDuration(wait, { name: 'wait', minMs: 0, maxMs: LIMITS.waitMs });
}

function optional(value: unknown, name: string, minMs: number, maxMs: number): number | undefined {
  return value === undefined ? undefined : parseDuration(value, { name, minMs, maxMs });
}
