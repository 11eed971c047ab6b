// How values become JavaScript, the same on every connection: the parsers of a caller's pool, and the ones it has set for all
// of `pg`, are its own affair and are never used.
//
//   bool boolean · int2, int4, oid, float4, float8 number · json, jsonb parsed · arrays of these and of text arrays
//   everything else its text as PostgreSQL writes it: int8 and numeric (exact, S17), text, uuid, timestamps
import { LeaseError } from '../../domain/errors.js';

type Parser = (text: string) => unknown;

const toBoolean: Parser = (text) => text === 't';
const asText: Parser = (text) => text;
const toJson: Parser = (text) => JSON.parse(text) as unknown;

const PARSERS: ReadonlyMap<number, Parser> = new Map<number, Parser>([
  [16, toBoolean],
  [21, Number],
  [23, Number],
  [26, Number],
  [700, Number],
  [701, Number],
  [114, toJson],
  [3802, toJson],
  [1000, (text) => parseArray(text, toBoolean)],
  [1005, (text) => parseArray(text, Number)],
  [1007, (text) => parseArray(text, Number)],
  [1021, (text) => parseArray(text, Number)],
  [1022, (text) => parseArray(text, Number)],
  [199, (text) => parseArray(text, toJson)],
  [3807, (text) => parseArray(text, toJson)],
  [1009, (text) => parseArray(text, asText)],
  [1015, (text) => parseArray(text, asText)],
  [1016, (text) => parseArray(text, asText)],
  [1231, (text) => parseArray(text, asText)],
]);

function refuseBinary(): never {
  throw new LeaseError(
    'STORE_INCOMPATIBLE',
    'this pool asks for binary results (binary: true): leave that out, or give Holdfast a pool of its own',
  );
}

/** For the `types` of each statement. */
export const rowTypes = {
  getTypeParser: (oid: number, format?: string): Parser =>
    format === 'binary' ? refuseBinary : (PARSERS.get(oid) ?? asText),
};

/** An array of one dimension as PostgreSQL writes it: `{1,NULL,"a \"b\""}`. */
export function parseArray(text: string, parse: Parser): readonly unknown[] {
  const items: unknown[] = [];
  let at = 1;
  while (at < text.length - 1) {
    if (text[at] === '"') {
      let item = '';
      for (at += 1; at < text.length && text[at] !== '"'; at += 1) {
        if (text[at] === '\\') at += 1;
        item += text.charAt(at);
      }
      items.push(parse(item));
      at += 2;
    } else {
      const comma = text.indexOf(',', at);
      const end = comma === -1 ? text.length - 1 : comma;
      const item = text.slice(at, end);
      items.push(item === 'NULL' ? null : parse(item));
      at = end + 1;
    }
  }
  return items;
}
