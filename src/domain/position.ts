// Log positions (H1): opaque to callers, naming store, namespace and incarnation, so that a position from another life
// of the data is recognised instead of silently read as a place in this one.

export interface Position {
  readonly store: string;
  readonly namespace: string;
  readonly incarnation: string;
  /** The store's own key for the row; text order is log order. */
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
