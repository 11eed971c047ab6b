// The checker of sequence histories accepts one that is right and rejects it with one line changed.
import { expect, test } from 'vitest';
import type { SettledNumber } from '../../../domain/sequence.js';
import { checkSequenceHistory, seenOf, type SequenceRecord } from './history.js';

const settled = (number: number, state: SettledNumber['state'], operation?: unknown): SettledNumber => ({
  number,
  state,
  operationId: `op-${number}`,
  kind: 'k',
  ...(operation === undefined ? {} : { operation }),
});
const stream = [
  settled(1, 'committed', 'a'),
  settled(2, 'gap'),
  settled(3, 'committed', 'c'),
  settled(4, 'filled', 'd'),
  settled(5, 'moved'),
];
const records: SequenceRecord[] = [
  { what: 'stored', operationId: 'op-1', text: '"a"', first: 1 },
  { what: 'stored', operationId: 'op-3', text: '"c"', first: 3 },
  { what: 'seen', reader: 'r', items: stream.slice(0, 2).map(seenOf) },
  { what: 'watermark', askedAt: 1, answeredAt: 2, watermark: 2 },
  { what: 'seen', reader: 'r', items: stream.slice(2).map(seenOf) },
  { what: 'watermark', askedAt: 3, answeredAt: 4, watermark: 5 },
];

test('a history that is right has no complaint', () => {
  expect(checkSequenceHistory({ records, stream })).toEqual([]);
});

test.each<[string, string, { records?: SequenceRecord[]; stream?: SettledNumber[] }]>([
  ['a number is missing', 'N1: number 4 stands where 3 should', { stream: stream.toSpliced(2, 1) }],
  [
    'an operation is stored twice',
    'N1: op-1 is stored twice',
    { stream: stream.with(3, { ...stream[3]!, operationId: 'op-1' }) },
  ],
  ['a committed operation is a gap', 'N2: op-3 was answered', { stream: stream.with(2, settled(2 + 1, 'gap')) }],
  [
    'a committed operation has changed',
    'N2: op-1 was answered',
    { stream: stream.with(0, settled(1, 'committed', 'b')) },
  ],
  ['a gap that was seen is filled', 'N4: r saw [2,"gap",null]', { stream: stream.with(1, settled(2, 'filled', 'b')) }],
  ['what was filled is a gap again', 'N4: r saw [4,"filled","\\"d\\""]', { stream: stream.with(3, settled(4, 'gap')) }],
  [
    'what was moved is committed',
    'N4: r saw [5,"moved",null]',
    { stream: stream.with(4, settled(5, 'committed', 'e')) },
  ],
  [
    'what was stored was never answered so',
    'N2: op-9 was answered as stored at 1',
    { records: records.with(0, { what: 'stored', operationId: 'op-9', text: '"a"', first: 1 }) },
  ],
  [
    'a reader misses a number',
    'N3: r saw 3 where 2 comes next',
    { records: records.with(2, { what: 'seen', reader: 'r', items: [seenOf(stream[0]!)] }) },
  ],
  [
    'the watermark goes back',
    'N3: the watermark is 1 after it was 2',
    { records: records.with(5, { what: 'watermark', askedAt: 3, answeredAt: 4, watermark: 1 }) },
  ],
])('a history is rejected when %s', (_what, complaint, change) => {
  expect(checkSequenceHistory({ records, stream, ...change }).join('\n')).toContain(complaint);
});
