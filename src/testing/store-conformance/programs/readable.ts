// A program as lines a person can read, and answers as text: what a failure prints.
import { inspect } from 'node:util';
import { LeaseError } from '../../../domain/errors.js';
import type { Part } from '../../../domain/part.js';
import type { AcquireRequest } from '../../../domain/requests.js';
import type { Call } from './call.js';

const PLAIN_VALUES: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['priority', 0],
  ['join', false],
  ['reclaim', false],
  ['maxRenewals', -1],
  ['minHoldMs', 0],
  ['lockDelayMs', 0],
  ['remote', false],
]);

/** `acquire [{ id: '…', parts: 'a, d/** shared 2', ttlMs: 5000, join: true }]` */
export function callText(call: Call): string {
  const asked = call.op === 'acquire' ? call.asked.map(shortAcquire) : call.asked;
  const words = [call.op, ...(asked === null ? [] : [oneLine(asked)])];
  if (call.op === 'events' && call.from) words.push(`from ${call.from.store}`);
  if (call.op === 'prune' && call.upTo) words.push(`up to ${call.upTo.store}`);
  if (call.op === 'list' && call.cursor) words.push(`past ${call.cursor.store}`);
  return words.join(' ');
}

/** `→ granted, queued`, or the fields of a reply that has no outcomes. */
export function answerText(answer: unknown): string {
  if (answer instanceof LeaseError) return `${answer.code}: ${answer.message}`;
  const { results, outcome } = answer as { results?: readonly { outcome: string }[]; outcome?: string };
  if (results) return results.map((result) => result.outcome).join(', ');
  return outcome ?? 'answered';
}

/** All of an answer, without what is undefined in it. */
export function wholeText(answer: unknown): string {
  return inspect(withoutGaps(answer), { depth: null, breakLength: 110, compact: 4, sorted: true });
}

function withoutGaps(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutGaps);
  if (typeof value !== 'object' || value === null || value instanceof Error) return value;
  const there = Object.entries(value).filter(([, one]) => one !== undefined);
  return Object.fromEntries(there.map(([key, one]) => [key, withoutGaps(one)]));
}

function shortAcquire(request: AcquireRequest): object {
  const entries = Object.entries(request).filter(
    ([key, value]) =>
      value !== undefined &&
      key !== 'callerWall' &&
      !(key === 'holding' && request.holding.length === 0) &&
      !(PLAIN_VALUES.has(key) && PLAIN_VALUES.get(key) === value),
  );
  return { ...Object.fromEntries(entries), parts: request.parts.map(partText).join(', ') };
}

function partText({ name, scope, mode, limit }: Part): string {
  const shared = mode === 'shared' ? ` shared${limit === undefined ? '' : ` ${limit}`}` : '';
  return `${name}${scope === 'subtree' ? '/**' : ''}${shared}`;
}

function oneLine(value: unknown): string {
  return inspect(value, { depth: null, breakLength: Infinity, compact: 100 });
}
