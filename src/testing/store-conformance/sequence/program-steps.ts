// Random programs about streams, as data: a step names what is done and picks by numbers, which are made into requests
// when the program runs and it is known what there is to pick from. A few streams and operations, so that they meet.
import fc from 'fast-check';

const WEIGHTS = {
  lease: 10,
  commit: 5,
  progress: 8,
  release: 3,
  append: 3,
  fill: 3,
  claim: 9,
  renewClaims: 2,
  settle: 10,
  read: 5,
  peek: 3,
  barrier: 3,
  open: 2,
  done: 4,
  forget: 1,
  trim: 3,
  gaps: 1,
  manualItems: 2,
  manual: 4,
  streams: 2,
  events: 1,
  pass: 10,
} as const;

export type SequenceOp = keyof typeof WEIGHTS;

/** Four dice: what they decide depends on the operation. */
export interface SequenceProgramStep {
  readonly op: SequenceOp;
  readonly client: number;
  readonly dice: readonly [number, number, number, number];
}

const die = fc.nat({ max: 999 });

const step: fc.Arbitrary<SequenceProgramStep> = fc.record({
  op: fc.oneof(
    ...(Object.entries(WEIGHTS) as [SequenceOp, number][]).map(([op, weight]) => ({
      weight,
      arbitrary: fc.constant(op),
    })),
  ),
  client: fc.nat({ max: 2 }),
  dice: fc.tuple(die, die, die, die),
});

export function sequenceProgram(steps: number): fc.Arbitrary<SequenceProgramStep[]> {
  return fc.array(step, { minLength: 1, maxLength: steps, size: 'max' });
}
