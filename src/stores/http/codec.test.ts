// Calls as JSON and back: pieces of long lists, failed items, answers that are none.
import { describe, expect, test } from 'vitest';
import { LeaseError } from '../../domain/errors.js';
import { bodyOf, decodeBatch, decodeResults, encodeList, PROTOCOL } from './codec.js';
import { EventLines } from './event-lines.js';

const protocol = String(PROTOCOL);
const problem = { type: 'about:blank', title: 'Bad request', status: 400, code: 'INVALID_ARGUMENT', detail: 'no' };

describe('W2, S21: lists', () => {
  test('a list is one piece unless its items are large; each large one is a piece of its own', () => {
    expect(encodeList([])).toEqual([{ count: 0, args: '[[]]' }]);
    expect(encodeList([{ a: 1 }, { b: undefined }])).toEqual([{ count: 2, args: '[[{"a":1},{}]]' }]);
    const large = { operations: ['x'.repeat(700_000)] };
    expect(encodeList([{ a: 1 }, large, large, { a: 2 }]).map(({ count }) => count)).toEqual([2, 2]);
    expect(encodeList([large, large, large]).map(({ count }) => count)).toEqual([1, 1, 1]);
  });

  test('a failed item has the error of the server, with its code, sentence and facts', () => {
    const failed = { outcome: 'failed', problem: { ...problem, retryable: false, limit: 256, leaseStatus: 'expired' } };
    const [fine, bad] = decodeResults([{ outcome: 'left' }, failed], 2, 'here');
    expect(fine).toEqual({ outcome: 'left' });
    const { error } = bad as { error: LeaseError };
    expect(error).toBeInstanceOf(LeaseError);
    expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', message: 'no', retryable: false });
    expect(error.details).toEqual({ limit: 256, status: 'expired' });
  });
});

describe('W2, A11: answers', () => {
  test('each call of a batch has its answer or its error; a server that shuts down is away, not we', () => {
    const closing = { ...problem, code: 'SHUTTING_DOWN', retryable: false };
    const answers = [
      { answer: { now: 1 } },
      { problem },
      { problem: closing },
      { problem: { ...problem, code: 'NEW' } },
    ];
    const [first, second, third, fourth] = decodeBatch({ body: { answers }, protocol }, 4, 'here');
    expect(first).toEqual({ now: 1 });
    expect(second).toMatchObject({ code: 'INVALID_ARGUMENT' });
    expect(third).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: true });
    expect(fourth).toMatchObject({ code: 'STORE_UNAVAILABLE', retryable: false });
  });

  test.each([
    [{ body: { answers: [] }, protocol }, /1 answers were expected/],
    [{ body: 'text', protocol }, /not its language/],
    [{ body: {}, protocol: undefined }, /not its language/],
    [{ body: {}, protocol: '2' }, /speaks version 2 .*same release/],
  ])('%j is not believed', (answered, message) => {
    expect(() => decodeBatch(answered, 1, 'here')).toThrow(message);
    expect(() => decodeBatch(answered, 1, 'here')).toThrow(expect.objectContaining({ code: 'STORE_INCOMPATIBLE' }));
  });

  test('a body in our language passes', () => {
    expect(bodyOf({ body: { now: 1 }, protocol }, 'here')).toEqual({ now: 1 });
  });
});

describe('Q3: lines of an event stream', () => {
  test('events come whole, however they are cut; comments and unknown fields are passed over', () => {
    const seen: string[] = [];
    const lines = new EventLines((event, data) => seen.push(`${event}=${data}`));
    for (const piece of [':\n\nev', 'ent: ready\nda', 'ta: {}\n', '\nid: 3\nevent: hint\r\ndata: a\ndata: b\r\n\r\n'])
      lines.add(piece);
    expect(seen).toEqual(['ready={}', 'hint=a\nb']);
  });

  test('a line that does not end is an error, not a growing heap', () => {
    const lines = new EventLines(() => undefined);
    expect(() => lines.add('x'.repeat(5 * 1024 * 1024))).toThrow(/does not end/);
  });
});
