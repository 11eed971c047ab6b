// "Did you mean": the known word nearest to a mistyped one, if any is near.

const FARTHEST = 3;

export function nearest(word: string, known: readonly string[]): string | undefined {
  let best: { word: string; far: number } | undefined;
  for (const one of known) {
    const far = distance(word, one);
    if (far <= Math.min(FARTHEST, one.length / 2) && far < (best?.far ?? Infinity)) best = { word: one, far };
  }
  return best?.word;
}

/** How many letters must be changed, added or left out. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? Infinity;
}
