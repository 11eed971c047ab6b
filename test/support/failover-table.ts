// What failovers kept and lost, one line for each that was seen, printed when the file is over.
import { afterAll } from 'vitest';

const HEAD = ['what died', 'client', 'kept', 'lost', 'last epoch before', 'first epoch after', 'higher by'] as const;

export interface SeenFailover {
  readonly what: string;
  readonly client: string;
  /** Leases that were answered before, and stand or do not stand after. */
  readonly kept: number;
  readonly lost: number;
  readonly before: number;
  readonly after: number;
}

/** To be called at the top of a test file; notes a line. */
export function failoverTable(): (seen: SeenFailover) => void {
  const rows: string[] = [];
  const line = (cells: readonly unknown[]): string => `| ${cells.join(' | ')} |`;
  afterAll(() => {
    process.stdout.write(`\n${[line(HEAD), line(HEAD.map(() => '---')), ...rows].join('\n')}\n`);
  });
  return ({ what, client, kept, lost, before, after }) => {
    rows.push(line([what, client, kept, lost, before, after, after - before]));
  };
}
