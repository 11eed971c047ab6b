// Resource names: path-like, compared byte by byte (contract, section 1). A name that passes `checkName` is the only
// kind that reaches a store; nothing is normalised silently, because two spellings of one name would be two locks.
import { invalid, shown } from './errors.js';
import { LIMITS } from './limits.js';

// eslint-disable-next-line no-control-regex -- control characters are what this looks for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;
// The common case, decided without any Unicode work.
const PLAIN_SEGMENT_PATH = /^[A-Za-z0-9_:@+=,~-][A-Za-z0-9_:@+=,.~-]*(?:\/[A-Za-z0-9_:@+=,~-][A-Za-z0-9_:@+=,.~-]*)*$/;

const encoder = new TextEncoder();

export function byteLength(text: string): number {
  return encoder.encode(text).length;
}

/** Returns the name, or throws INVALID_ARGUMENT with what to do about it. */
export function checkName(name: unknown): string {
  if (typeof name !== 'string') throw invalid(`a resource name must be a string, got ${describe(name)}`);
  if (name.length === 0) throw invalid('a resource name must not be empty');
  const plain = name.length <= LIMITS.nameBytes && PLAIN_SEGMENT_PATH.test(name);
  if (!plain) checkUnusualName(name);
  if (countSegments(name) > LIMITS.nameSegments) {
    throw invalid(`resource name has more than ${LIMITS.nameSegments} segments: use fewer levels`, {
      name: shown(name),
    });
  }
  return name;
}

function checkUnusualName(name: string): void {
  if (!name.isWellFormed()) throw invalid('resource name holds a lone surrogate: it is not valid Unicode');
  if (CONTROL.test(name)) throw invalid(`resource name ${shown(name)} holds a control character: remove it`);
  if (byteLength(name) > LIMITS.nameBytes) {
    throw invalid(`resource name is over ${LIMITS.nameBytes} bytes of UTF-8: shorten or hash it`, {
      bytes: byteLength(name),
    });
  }
  if (name.normalize('NFC') !== name) {
    throw invalid(`resource name ${shown(name)} is not in Unicode form NFC: call .normalize('NFC') on it first`);
  }
  for (const segment of name.split('/')) {
    if (segment === '') {
      throw invalid(`resource name ${shown(name)} has an empty segment: no slash at either end, no two in a row`);
    }
    if (segment === '.' || segment === '..') {
      throw invalid(`resource name ${shown(name)} has a segment "${segment}": resolve the path first`);
    }
  }
}

function countSegments(name: string): number {
  let count = 1;
  for (let at = name.indexOf('/'); at !== -1; at = name.indexOf('/', at + 1)) count += 1;
  return count;
}

/** `a` is above `a/b`, not above `ab` and not above itself. */
export function isAbove(upper: string, lower: string): boolean {
  return lower.length > upper.length && lower.charCodeAt(upper.length) === 47 && lower.startsWith(upper);
}

/** The names above this one, nearest last: `a/b/c` gives `a`, `a/b`. */
export function namesAbove(name: string): string[] {
  const above: string[] = [];
  for (let at = name.indexOf('/'); at !== -1; at = name.indexOf('/', at + 1)) above.push(name.slice(0, at));
  return above;
}

/** The half-open range of names strictly below this one, in byte order: `/` is followed by `0`. */
export function rangeBelow(name: string): { from: string; to: string } {
  return { from: `${name}/`, to: `${name}0` };
}

/** Byte order of the UTF-8 form, the order every store sorts names in. (UTF-16 order differs above U+FFFF.) */
export function compareNames(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i += 1) {
    let x = a.charCodeAt(i);
    let y = b.charCodeAt(i);
    if (x === y) continue;
    if (x >= 0xd800 && y >= 0xd800) {
      if (x >= 0xe000) x -= 0x2000;
      else x += 0x2000;
      if (y >= 0xe000) y -= 0x2000;
      else y += 0x2000;
    }
    return x < y ? -1 : 1;
  }
  return a.length - b.length;
}

function describe(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : typeof value;
}
