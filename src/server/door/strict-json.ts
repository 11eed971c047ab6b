// JSON as it is safe to take from strangers (W5): one pass over the text finds what JSON.parse lets through: nesting without
// an end, a key twice (which of the two counts is a matter of who reads it) and `__proto__`. It only has to be right about
// text that is JSON; what is none is refused by JSON.parse right after.
import { invalid } from '../../domain/errors.js';

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/** Keeps a byte order mark, which JSON has not, and throws for what is no UTF-8. */
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export function parseStrictJson(bytes: Uint8Array, maxDepth: number): unknown {
  let text: string;
  try {
    text = decoder.decode(bytes);
  } catch {
    throw invalid('the body is not valid UTF-8');
  }
  checkNesting(text, maxDepth);
  try {
    return JSON.parse(text);
  } catch {
    throw invalid('the body is not JSON');
  }
}

function checkNesting(text: string, maxDepth: number): void {
  /** The keys of each object that is open; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  let isKeyNext = false;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE: {
        const end = endOfString(text, at);
        if (isKeyNext) takeKey(open.at(-1), text.slice(at, end + 1));
        at = end;
        break;
      }
      case OPEN_OBJECT:
      case OPEN_LIST:
        if (open.length >= maxDepth) throw invalid(`the body is nested deeper than ${maxDepth} levels`);
        isKeyNext = text.charCodeAt(at) === OPEN_OBJECT;
        open.push(isKeyNext ? new Set() : undefined);
        break;
      case CLOSE_OBJECT:
      case CLOSE_LIST:
        open.pop();
        isKeyNext = false;
        break;
      case COMMA:
        isKeyNext = open.at(-1) !== undefined;
        break;
      case COLON:
        isKeyNext = false;
        break;
      default:
    }
  }
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}

function takeKey(keys: Set<string> | undefined, quoted: string): void {
  if (!keys) return;
  const key = quoted.includes('\\') ? unquoted(quoted) : quoted.slice(1, -1);
  if (key === '__proto__') throw invalid('the body holds the key "__proto__", which is not allowed');
  if (keys.has(key)) throw invalid(`the body holds the key ${JSON.stringify(key.slice(0, 80))} twice: give it once`);
  keys.add(key);
}

/** An escape may spell a key in another way. */
function unquoted(quoted: string): string {
  try {
    return String(JSON.parse(quoted));
  } catch {
    return quoted;
  }
}
