// Text from elsewhere (names, owners, reasons) as a terminal may see it: nothing in it moves the cursor, changes a colour,
// breaks a line or turns the direction of writing. Also how wide it is, in columns.

// C0, DEL and C1; separators that break lines; marks that turn the direction or hide; lone surrogates.
const UNSAFE = /[\p{Cc}\u2028\u2029\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\p{Cs}]/gu;
const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u001b': '\\x1b' };
const PLAIN = /^[\x20-\x7e]*$/;
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/u;
const NO_WIDTH = /^[\p{Mn}\p{Me}\ufe0f]$/u;

export function safe(text: string): string {
  if (PLAIN.test(text)) return text;
  return text.replace(UNSAFE, (char) => SHORT[char] ?? numbered(char));
}

/** One line of JSON that a terminal may see too. */
export function safeJson(value: unknown): string {
  return JSON.stringify(value).replace(UNSAFE, (char) => `\\u${hex(char, 4)}`);
}

export function columnsOf(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let columns = 0;
  for (const char of text) if (!NO_WIDTH.test(char)) columns += WIDE.test(char) ? 2 : 1;
  return columns;
}

/** At most so many columns, the end given up for an ellipsis. */
export function cut(text: string, columns: number): string {
  if (columnsOf(text) <= columns) return text;
  let kept = '';
  let used = 0;
  for (const char of text) {
    const width = columnsOf(char);
    if (used + width > columns - 1) break;
    kept += char;
    used += width;
  }
  return `${kept}…`;
}

function numbered(char: string): string {
  return (char.codePointAt(0) ?? 0) < 256 ? `\\x${hex(char, 2)}` : `\\u{${hex(char, 4)}}`;
}

function hex(char: string, digits: number): string {
  return (char.codePointAt(0) ?? 0).toString(16).padStart(digits, '0');
}
