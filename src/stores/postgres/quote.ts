// Names in SQL. The schema is the caller's to choose, so it is checked and quoted, once, where texts are made.
import { invalid, shown } from '../../domain/errors.js';
import { byteLength } from '../../domain/resource-name.js';

const MAX_IDENTIFIER_BYTES = 63;
// eslint-disable-next-line no-control-regex -- control characters are what this looks for
const UNFIT = /[\u0000-\u001f\u007f$]/; // and a dollar, which ends the texts of functions

export function checkSchema(schema: unknown): string {
  const isFit =
    typeof schema === 'string' &&
    schema.isWellFormed() &&
    byteLength(schema) >= 1 &&
    byteLength(schema) <= MAX_IDENTIFIER_BYTES &&
    !UNFIT.test(schema) &&
    !/^pg_/i.test(schema);
  if (isFit) return schema;
  throw invalid(
    `schema is a name of 1 to ${MAX_IDENTIFIER_BYTES} bytes without $ that does not begin with pg_, got ${shown(schema)}`,
  );
}

export function quoteName(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

export function quoteText(text: string): string {
  const quoted = `'${text.replaceAll("'", "''")}'`;
  return text.includes('\\') ? ` E${quoted.replaceAll('\\', '\\\\')}` : quoted;
}

/**
 * How the functions' statements are planned. Plans are kept by the session and may be as old as an empty table: what looks
 * cheap on no rows (reading all of them) is ruled out, and so is compiling a plan because ruling out made it look dear. Each
 * setting costs a call some microseconds: few have only what they need, and the quickest set that by themselves (decision 0031).
 */
export const QUICK_SETTINGS = { enable_seqscan: 'off', plan_cache_mode: 'force_generic_plan' } as const;
const QUICK = Object.entries(QUICK_SETTINGS)
  .map(([name, value]) => `SET ${name} = ${value}`)
  .join(' ');
const TUNED = `${QUICK} SET enable_hashjoin = off SET enable_mergejoin = off SET jit = off`;

/**
 * `{s}` becomes the schema's name; inside a text literal it becomes the same name, spelled for there. All in one go: a name may hold what
 * stands for something else.
 */
export function inSchema(text: string, schema: string): string {
  const name = quoteName(schema);
  const meant: Readonly<Record<string, string>> = {
    "'{s}.": `'${name.replaceAll("'", "''")}.`,
    '{s}': name,
    '{l}': quoteText(schema),
    '{tuned}': TUNED,
    '{quick}': QUICK,
  };
  return text.replaceAll(/'\{s\}\.|\{(?:s|l|tuned|quick)\}/g, (piece) => meant[piece] ?? piece);
}
