// Log positions (H1): opaque to callers, naming store, namespace and incarnation, so that a position from another life
// of the data is recognised instead of silently read as a place in this one.

export interface Position {
  readonly store: string;
  readonly namespace: string;
  readonly incarnation: string;
  /** The store's own key for the row: whole numbers, which compared one after the other are in log order. */
  readonly key: string;
}

export function formatPosition({ store, namespace, incarnation, key }: Position): string {
  return [store, namespace, incarnation, key].join('!');
}

/** `undefined` for anything that is no position at all. */
export function parsePosition(text: string): Position | undefined {
  const pieces = text.split('!');
  if (pieces.length !== 4 || pieces.some((piece) => piece === '' || piece.length > 128)) return undefined;
  const [store, namespace, incarnation, key] = pieces as [string, string, string, string];
  return { store, namespace, incarnation, key };
}

export function isSameLog(a: Position, b: Position): boolean {
  return a.store === b.store && a.namespace === b.namespace && a.incarnation === b.incarnation;
}

/** Negative when `a` is before `b`. Only within one log. */
export function comparePositions(a: Position, b: Position): number {
  const [left, right] = [a.key.split('-'), b.key.split('-')];
  for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
    const [x, y] = [plainDigits(left[at]), plainDigits(right[at])];
    if (x.length !== y.length) return x.length - y.length;
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
}

function plainDigits(number = '0'): string {
  return number.replace(/^0+(?=.)/, '');
}
