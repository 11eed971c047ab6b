// Where the seed of a random test comes from: the environment when somebody repeats a run (SEED=n), else a fresh one.
// Whoever uses it puts the seed into its title, so that every run can be repeated.
import fc from 'fast-check';

const MAX_SEED = 2 ** 31 - 1;

export function chooseSeed(asked: string | undefined = process.env['SEED']): number {
  if (asked === undefined || asked === '') return freshSeed();
  const seed = Number(asked);
  if (/^\d+$/.test(asked) && seed <= MAX_SEED) return seed;
  throw new Error(`SEED is a whole number from 0 to ${MAX_SEED}, got ${JSON.stringify(asked)}`);
}

/** fast-check seeds its own sampling from time and chance: the one source of surprise this package needs. */
function freshSeed(): number {
  return fc.sample(fc.noBias(fc.integer({ min: 1, max: MAX_SEED })), 1)[0] ?? 1;
}
