// Random programs of writes and claims for gates, and the rule of G4 said in one sentence instead of marks: a write is refused
// if and only if something newer that it excludes was admitted before.
import fc from 'fast-check';
import { LeaseError } from '../../src/domain/errors.js';
import { isAbove } from '../../src/domain/resource-name.js';
import type { CheckedWrite } from '../../src/guards/fence.js';

const NAMES = ['a', 'a/b', 'a/b/c', 'a/bb', 'ab', 'b', 'ä/b'];
const write: fc.Arbitrary<CheckedWrite> = fc.record({
  resource: fc.constantFrom(...NAMES),
  epoch: fc.integer({ min: 1, max: 9 }).map((n) => 2 ** 53 - 20 + n),
  mode: fc.constantFrom('exclusive', 'shared'),
  scope: fc.constantFrom('node', 'subtree'),
});
export const program = fc.array(fc.array(write, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 25 });

export type Admit = (writes: readonly CheckedWrite[]) => Promise<void> | void;

function excludes(one: CheckedWrite, other: CheckedWrite): boolean {
  if (one.mode === 'shared' && other.mode === 'shared') return false;
  return (
    one.resource === other.resource ||
    (one.scope === 'subtree' && isAbove(one.resource, other.resource)) ||
    (other.scope === 'subtree' && isAbove(other.resource, one.resource))
  );
}

/** Answers `-` or the epoch that closed the gate, for each step. */
export function expected(steps: readonly (readonly CheckedWrite[])[]): string[] {
  const admitted: CheckedWrite[] = [];
  return steps.map((writes) => {
    for (const one of writes) {
      const newer = admitted.filter((other) => other.epoch > one.epoch && excludes(one, other));
      if (newer.length > 0) return String(Math.max(...newer.map(({ epoch }) => epoch)));
    }
    admitted.push(...writes);
    return '-';
  });
}

export async function answers(steps: readonly (readonly CheckedWrite[])[], admit: Admit): Promise<string[]> {
  const told: string[] = [];
  for (const writes of steps) {
    try {
      await admit(writes);
      told.push('-');
    } catch (error) {
      if (!(error instanceof LeaseError) || error.code !== 'STALE_EPOCH') throw error;
      told.push(String(error.details['current']));
    }
  }
  return told;
}
