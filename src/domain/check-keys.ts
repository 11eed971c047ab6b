// Options by name. A misspelt one would be left out in silence, and with it what it was there to protect.
import { invalid, shown } from './errors.js';

/** `where` is said of an unknown one, such as "of a resource"; whatever calls this must be given an object. */
export function checkKeys(given: unknown, known: ReadonlySet<string>, where = ''): void {
  const of = where === '' ? '' : ` ${where}`;
  if (typeof given !== 'object' || given === null) throw invalid(`options${of} are an object, got ${shown(given)}`);
  for (const key in given) {
    if (!known.has(key)) throw invalid(`unknown option ${shown(key)}${of}: known are ${[...known].join(', ')}`);
  }
}
