// Lua: numbers that follow one another, as text. `%.0f` costs more than everything else that is done for a plain item, so of the
// numbers of a list only the thousands are formatted, once, and the last three digits are cut out of a table that the script brings
// along. The digits are those that `%.0f` would have given, up to the last safe integer (S17): thousands are taken with fmod, which
// is exact, where the remainder of Lua is not.

const LAST_THREE = Array.from({ length: 1_000 }, (_, n) => String(n).padStart(3, '0')).join('');

/** After it `<name>Low` is the remainder of the number, `<name>High` the text before its last three digits. */
export function beginDigits(name: string): string {
  return String.raw`
  local ${name}Low, ${name}High, ${name}End = math.fmod(${name}, 1000), '', ''
  if ${name} >= 1000 then ${name}High = string.format('%.0f', (${name} - ${name}Low) / 1000) end
`;
}

/** The next number; after it `<name>High .. <name>End` is its text. */
export function nextDigits(name: string): string {
  return String.raw`
    ${name}, ${name}Low = ${name} + 1, ${name}Low + 1
    if ${name}Low == 1000 then ${name}Low, ${name}High = 0, string.format('%.0f', ${name} / 1000) end
    ${name}End = ${name} < 1000 and string.format('%.0f', ${name}) or sub(DIGITS, 3 * ${name}Low + 1, 3 * ${name}Low + 3)
`;
}

export const DIGITS = `local DIGITS, sub = '${LAST_THREE}', string.sub\n`;
