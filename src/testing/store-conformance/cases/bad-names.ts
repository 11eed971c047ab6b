// S18, S21: names, parts and texts a request may not have, at the bound, above it and far above it. Each fails as one
// item and leaves its neighbours alone.
import assert from 'node:assert/strict';
import type { Part } from '../../../domain/part.js';
import type { ConformanceCase } from '../conformance-case.js';
import { node, shared, subtree } from '../parts.js';

const segments = (count: number): string => Array.from({ length: count }, () => 's').join('/');

const goodNames: Readonly<Record<string, string>> = {
  'one character': 'a',
  '512 bytes': 'a'.repeat(512),
  '512 bytes of two-byte characters': 'é'.repeat(256),
  '32 segments': segments(32),
  'a dot inside a segment': '.a/b./..c',
  'spaces, quotes and wildcards': `file:app/ "it's" %_*?[x]\\ {y}`,
  'characters outside the first plane': 'job/😀/𝕏',
  'a name in Unicode form NFC': 'caf\u00e9',
};

const badNames: Readonly<Record<string, unknown>> = {
  empty: '',
  '513 bytes': 'a'.repeat(513),
  '514 bytes of two-byte characters': 'é'.repeat(257),
  'a million bytes': 'a'.repeat(1_000_000),
  '33 segments': segments(33),
  '10,000 segments': segments(10_000),
  'a leading slash': '/a',
  'a trailing slash': 'a/',
  'a slash alone': '/',
  'a double slash': 'a//b',
  'a segment .': 'a/./b',
  'a segment ..': 'a/../b',
  '.. alone': '..',
  'a NUL': 'a\u0000b',
  'a newline': 'a\nb',
  'a DEL': 'a\u007f',
  'a C1 control character': 'a\u0085b',
  'a lone high surrogate': 'a\ud800',
  'a lone low surrogate': '\udc00a',
  'a name in Unicode form NFD': 'cafe\u0301',
  'a number': 7,
  null: null,
};

const badParts: Readonly<Record<string, readonly Part[]>> = {
  'no parts': [],
  'parts not sorted': [node('b'), node('a')],
  'one name twice': [node('a'), node('a')],
  'one name in two modes': [node('a'), shared('a')],
  'one name in two scopes': [node('a'), subtree('a')],
  'one name with two limits': [shared('a', 1), shared('a', 2)],
  'a child below its own subtree': [subtree('a'), node('a/b')],
  'a grandchild below its own subtree, with a name between': [subtree('a'), node('a-b'), node('a/b/c')],
  'limit 0': [shared('a', 0)],
  'limit -1': [shared('a', -1)],
  'limit 1.5': [shared('a', 1.5)],
  'limit NaN': [shared('a', NaN)],
  'limit above a million': [shared('a', 1_000_001)],
  'a limit on an exclusive part': [{ ...node('a'), limit: 1 }],
  'an unknown mode': [{ ...node('a'), mode: 'write' as 'shared' }],
  'an unknown scope': [{ ...node('a'), scope: 'all' as 'node' }],
};

const texts: Readonly<Record<string, unknown>> = {
  empty: '',
  'a control character': 'a\u0000',
  'a lone surrogate': '\ud800',
  'a number': 5,
};
const badOwners = { ...texts, '129 bytes': 'x'.repeat(129), '130 bytes in 65 characters': 'é'.repeat(65) };
const badOperationIds = { ...texts, '1,025 bytes': 'x'.repeat(1_025) };
const badIds = {
  ...texts,
  '15 characters': 'x'.repeat(15),
  '65 characters': 'x'.repeat(65),
  'a space': 'x x'.repeat(8),
};

function failing(
  what: string,
  bad: Readonly<Record<string, unknown>>,
  ask: (value: unknown) => object,
): ConformanceCase[] {
  return Object.entries(bad).map(([how, value]) => ({
    tags: ['S18', 'S21'],
    title: `${what}: ${how} fails as one item`,
    run: ({ failItem }) => failItem(ask(value)),
  }));
}

export const badNamesAndParts: readonly ConformanceCase[] = [
  ...Object.entries(goodNames).map(([how, name]): ConformanceCase => ({
    tags: ['S18'],
    title: `name: ${how} is taken and given back as it was`,
    run: async ({ grant, refuse, record, store }) => {
      const lease = await grant(name);
      assert.deepEqual((await record(lease.id)).parts, [node(name)]);
      assert.equal((await store.show(name, 1)).holders[0]?.id, lease.id);
      assert.equal((await store.list({ resource: name, limit: 2 })).items.length, 1);
      await refuse(name);
    },
  })),
  ...failing('name', badNames, (name) => ({ parts: [{ ...node('a'), name }] })),
  ...failing('parts', badParts, (parts) => ({ parts })),
  ...failing('owner', badOwners, (owner) => ({ owner })),
  ...failing('operationId', badOperationIds, (operationId) => ({ operationId })),
  ...failing('id', badIds, (id) => ({ id })),
  {
    tags: ['S18'],
    title: 'owner, operationId and id at their bounds are taken and given back as they were',
    run: async ({ grant, record }) => {
      for (const owner of ['x', 'x'.repeat(128), 'é'.repeat(64), "o'Neil ‚%_\\", ' padded ']) {
        const lease = await grant({ name: `of/${encodeURIComponent(owner)}`, owner });
        assert.equal((await record(lease.id)).owner, owner);
      }
      const operationId = 'o'.repeat(1_024);
      const first = await grant({ name: 'a', operationId, id: 'A-_9'.repeat(4) });
      assert.equal((await record(first.id)).operationId, operationId);
      await grant({ name: 'b', id: 'A-_9'.repeat(16) });
    },
  },
];
