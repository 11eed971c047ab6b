// From calls of the port to JSON and back (the language of /v1/store and /v1/batch, version PROTOCOL). Requests and answers
// have the port's own shapes; three things need a word: a failed item carries a problem instead of an error, an id that is
// not known is `null` in the answer of `get`, and what is undefined is left out.
import type { LeaseError } from '../../domain/errors.js';
import type { Failed } from '../store.js';
import { errorOf, foreign, isProblem, otherProtocol, type Problem } from './translate-error.js';
import type { Answered } from './transport.js';

export const PROTOCOL = 1;

/** The arguments of a call as JSON text. */
export function encodeArgs(args: readonly unknown[]): string {
  return JSON.stringify(args);
}

/** A list is sent in pieces of this many bytes, or of one item: the server bounds what it reads at once. */
const PIECE_BYTES = 1024 * 1024;

/** The arguments of a list method, in as many pieces as it takes: one, unless items are large. */
export function encodeList(items: readonly object[]): { readonly count: number; readonly args: string }[] {
  const pieces: { count: number; args: string }[] = [];
  let texts: string[] = [];
  let bytes = 0;
  const close = (): void => {
    pieces.push({ count: texts.length, args: `[[${texts.join()}]]` });
    texts = [];
    bytes = 0;
  };
  for (const item of items) {
    const text = JSON.stringify(item);
    const size = Buffer.byteLength(text);
    if (texts.length > 0 && bytes + size > PIECE_BYTES) close();
    texts.push(text);
    bytes += size;
  }
  if (texts.length > 0 || pieces.length === 0) close();
  return pieces;
}

/** One call as it stands in a batch, and alone. */
export function encodeCall(method: string, namespace: string, args: string): string {
  return `{"method":${JSON.stringify(method)},"namespace":${JSON.stringify(namespace)},"args":${args}}`;
}
export function encodeAlone(namespace: string, args: string): string {
  return `{"namespace":${JSON.stringify(namespace)},"args":${args}}`;
}

/** The body of an answer in our language; anything else is no server of ours. */
export function bodyOf({ body, protocol }: Answered, where: string): Readonly<Record<string, unknown>> {
  if (typeof body !== 'object' || body === null || protocol === undefined) throw foreign(where, 'not its language');
  if (protocol !== String(PROTOCOL)) throw otherProtocol(where, protocol, PROTOCOL, undefined);
  return body as Readonly<Record<string, unknown>>;
}

/** For each call of a batch its answer, or the error it failed with. */
export function decodeBatch(answered: Answered, count: number, where: string): (object | LeaseError)[] {
  const { answers } = bodyOf(answered, where);
  if (!Array.isArray(answers) || answers.length !== count) throw foreign(where, `${count} answers were expected`);
  return (answers as readonly { answer?: object; problem?: unknown }[]).map(({ answer, problem }) => {
    if (isProblem(problem)) return errorOf(problem);
    return answer ?? foreign(where, 'an answer is missing');
  });
}

/** The results of a list of `count` items, with errors where items failed. Where one is missing nobody can tell whose. */
export function decodeResults<R>(given: unknown, count: number, where: string): readonly (R | Failed)[] {
  const isWhole = Array.isArray(given) && given.length === count && given.every(isObject);
  if (!isWhole) throw foreign(where, `${count} results were expected`);
  const results = given as readonly (R | Failed)[];
  if (!results.some(isFailed)) return results;
  return results.map((result) => {
    if (!isFailed(result)) return result;
    const { problem } = result as unknown as { problem: Problem };
    return { outcome: 'failed', error: errorOf(problem) };
  });
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function isFailed(result: unknown): boolean {
  const { outcome, problem } = result as { outcome?: unknown; problem?: unknown };
  return outcome === 'failed' && isProblem(problem);
}
