// A name as it can be shown without lying: what has no shape or turns the writing around (control characters, direction marks,
// odd spaces) becomes a small label with its number, and what is too long is cut in the middle, where names differ least.
export interface Piece {
  readonly text: string;
  /** The label of a character that would not be seen. */
  readonly isOdd: boolean;
}

/** Controls, formats (which hold the direction marks), separators other than the space, lone surrogates, private and unassigned. */
const ODD = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

export function piecesOf(name: string): Piece[] {
  const pieces: Piece[] = [];
  let plain = '';
  for (const character of name) {
    if (!ODD.test(character)) {
      plain += character;
      continue;
    }
    if (plain !== '') pieces.push({ text: plain, isOdd: false });
    plain = '';
    pieces.push({ text: labelOf(character), isOdd: true });
  }
  if (plain !== '' || pieces.length === 0) pieces.push({ text: plain, isOdd: false });
  return pieces;
}

/** Names in text that cannot hold elements: titles, confirmations, announcements. */
export function plainName(name: string): string {
  return piecesOf(name)
    .map(({ text, isOdd }) => (isOdd ? `[${text}]` : text))
    .join('');
}

/** At most `most` characters, the middle left out. The end says more than the beginning: it gets more. */
export function cutMiddle(name: string, most: number): string {
  const characters = Array.from(name);
  if (characters.length <= most) return name;
  const tail = Math.ceil((most - 1) * 0.6);
  const head = most - 1 - tail;
  return `${characters.slice(0, head).join('')}…${characters.slice(characters.length - tail).join('')}`;
}

function labelOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
