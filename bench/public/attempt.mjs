// A peer that fails in a measure has a dash with its own words; ours fails the suite.
import { OURS } from './contenders.mjs';

/** Runs `act` unless this contender has failed already; what goes wrong is kept in `result.dash`. */
export async function attempt(contender, result, act) {
  if (result.dash !== undefined) return;
  try {
    await act();
  } catch (error) {
    if (contender.who === OURS) throw error;
    result.dash = `failed here: ${error.message}`;
    console.error(`... ${contender.id} failed: ${error.stack}`);
  }
}
