// Metadata and other JSON a caller hands in: plain JSON, bounded, without keys that reach into prototypes.
import { invalid } from './errors.js';
import { byteLength } from './resource-name.js';

const MAX_DEPTH = 32;

/** The JSON text of `value`, or INVALID_ARGUMENT. `undefined` stays undefined. `uncounted` levels are not the caller's. */
export function checkJson(value: unknown, what: string, maxBytes: number, uncounted = 0): string | undefined {
  if (value === undefined) return undefined;
  checkShape(value, what, -uncounted, new Set());
  const text = JSON.stringify(value);
  const bytes = byteLength(text);
  if (bytes > maxBytes)
    throw invalid(`${what} is ${bytes} bytes of JSON, at most ${maxBytes}: store a reference to it`);
  return text;
}

function checkShape(value: unknown, what: string, depth: number, above: Set<object>): void {
  if (depth > MAX_DEPTH) throw invalid(`${what} is nested deeper than ${MAX_DEPTH} levels`);
  if (typeof value === 'number' && !Number.isFinite(value)) throw invalid(`${what} holds ${value}, which JSON has not`);
  if (typeof value === 'string' && !value.isWellFormed()) throw invalid(`${what} holds a lone surrogate`);
  if (value === null || typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value !== 'object') throw invalid(`${what} holds a ${typeof value}: only plain JSON is kept`);
  if (above.has(value)) throw invalid(`${what} is cyclic: only plain JSON is kept`);
  above.add(value);
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function')
    throw invalid(`${what} holds an object with toJSON: only plain JSON is kept`);
  if (Array.isArray(value)) {
    for (const item of value) checkShape(item, what, depth + 1, above);
  } else {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype !== Object.prototype && prototype !== null) {
      throw invalid(`${what} holds an object that is not plain: only plain JSON is kept`);
    }
    for (const key of Object.keys(value)) {
      if (key === '__proto__') throw invalid(`${what} holds the key "__proto__", which is not allowed`);
      checkShape(key, what, depth, above);
      checkShape((value as Record<string, unknown>)[key], what, depth + 1, above);
    }
  }
  above.delete(value);
}
