// Calls and answers in the words of the story: the end of an id, its epoch, what came of it.

interface Asked {
  readonly id?: string;
  readonly epoch?: number;
  readonly kind?: string;
  readonly why?: string;
  readonly operationId?: string;
  readonly number?: number;
  readonly from?: number;
}
interface Told {
  readonly outcome: string;
  readonly remainingMs?: number;
  readonly epoch?: number;
  readonly lease?: { readonly epoch: number };
}

export function callText(name: string, asked: readonly unknown[]): string {
  return `${name} ${asked.map(itemText).join(', ')}`;
}

function itemText(asked: unknown): string {
  if (typeof asked === 'string') return asked.slice(-5);
  const { id, epoch, kind, why, operationId, number, from } = asked as Asked;
  return joined(kind, why, operationId, number, from, id?.slice(-5), epoch === undefined ? undefined : `#${epoch}`);
}

export function answerText(answer: unknown): string {
  const { results } = answer as { results?: readonly Told[] };
  if (results === undefined) return 'answered';
  return results
    .map(({ outcome, remainingMs, lease, epoch }) =>
      joined(outcome, lease?.epoch ?? epoch, remainingMs === undefined ? undefined : `${remainingMs} ms`),
    )
    .join(', ');
}

function joined(...facts: (string | number | undefined)[]): string {
  return facts.filter((fact) => fact !== undefined).join(' ');
}
