// S1: who may hold beside whom. The table names pairs of requests; each pair is tried in both orders.
import assert from 'node:assert/strict';
import type { Part } from '../../../domain/part.js';
import type { ConformanceCase } from '../conformance-case.js';
import { expectOutcome } from '../context.js';
import { inWords, node, shared, sharedSubtree, subtree } from '../parts.js';

const DEEP = Array.from({ length: 32 }, (_, i) => `s${i}`).join('/');

/** Pairs that exclude each other. */
const conflicting: readonly (readonly [Part, Part])[] = [
  [node('a'), node('a')],
  [node('a'), shared('a')],
  [node('a'), shared('a', 5)],
  [subtree('a'), node('a')],
  [subtree('a'), node('a/b')],
  [subtree('a'), node('a/b/c/d')],
  [subtree('a'), shared('a/b')],
  [subtree('a'), subtree('a/b')],
  [subtree('a/b'), subtree('a')],
  [sharedSubtree('a'), node('a')],
  [sharedSubtree('a'), node('a/b')],
  [sharedSubtree('a'), subtree('a/b/c')],
  [subtree('s0'), node(DEEP)],
  [subtree('Ünï/😀'), node('Ünï/😀/x')],
  [subtree('a%'), node('a%/b')],
  [node("it's/“quoted”; --"), node("it's/“quoted”; --")],
];

/** Pairs that fit beside each other. */
const compatible: readonly (readonly [Part, Part])[] = [
  [node('a'), node('b')],
  [node('a'), node('a/b')],
  [node('a'), subtree('a/b')],
  [shared('a'), shared('a')],
  [shared('a'), sharedSubtree('a')],
  [sharedSubtree('a'), sharedSubtree('a/b')],
  [sharedSubtree('a'), shared('a/b')],
  [subtree('a'), node('ab')],
  [subtree('a'), node('a-b')],
  [subtree('a'), node('a.b')],
  [subtree('a'), node('a0')],
  [subtree('a'), node('b/a')],
  [subtree('a/b'), node('a')],
  [subtree('a/b'), node('a/c')],
  [subtree('a/b'), node('a/bc/d')],
  [node('orders'), node('Orders')],
  [subtree('orders'), node('Orders/0')],
  [node('é'), node('e')],
  [subtree('a%'), node('abc/d')],
  [subtree('a_'), node('ab/c')],
  [subtree('a*'), node('ab/c')],
  [subtree('[a]'), node('a/b')],
  [node('a b'), node('a  b')],
  [node('a'), node('a ')],
];

function pairCase([a, b]: readonly [Part, Part], fit: boolean): ConformanceCase {
  return {
    tags: ['S1'],
    title: `${inWords(a)} and ${inWords(b)} ${fit ? 'fit beside' : 'exclude'} each other`,
    run: async ({ grant, release, anotherClient }) => {
      const second = await anotherClient();
      const orders = [
        [a, b],
        [b, a],
      ] as const;
      for (const [first, then] of orders) {
        const held = await grant({ parts: [first] });
        const result = await second.acquire({ parts: [then] });
        if (fit) {
          await second.release(expectOutcome(result, 'granted').lease);
        } else {
          const { refusal } = expectOutcome(result, 'refused');
          assert.equal(refusal.reason, 'held');
          assert.deepEqual(
            refusal.holders.map(({ id }) => id),
            [held.id],
          );
        }
        expectOutcome(await release(held), 'released');
      }
      await second.grant({ parts: [a] });
    },
  };
}

export const exclusionAndSubtrees: readonly ConformanceCase[] = [
  ...conflicting.map((pair) => pairCase(pair, false)),
  ...compatible.map((pair) => pairCase(pair, true)),
  {
    tags: ['S1', 'Q1'],
    title: 'leases are not re-entrant: one owner excludes itself',
    run: async ({ grant, refuse }) => {
      await grant({ name: 'orders/0', owner: 'me' });
      assert.equal((await refuse({ name: 'orders/0', owner: 'me' })).reason, 'held');
    },
  },
  {
    tags: ['S1'],
    title: 'of many that ask at once over two connections, one is granted',
    run: async ({ ask, store, anotherClient }) => {
      const second = await anotherClient();
      const requests = await Promise.all(Array.from({ length: 16 }, () => ask('orders/0')));
      const answers = await Promise.all(
        requests.map((request, i) => (i % 2 === 0 ? store : second.store).acquire([request])),
      );
      const outcomes = answers.map(({ results }) => results[0]?.outcome);
      assert.equal(outcomes.filter((outcome) => outcome === 'granted').length, 1);
      assert.equal(outcomes.filter((outcome) => outcome === 'refused').length, 15);
    },
  },
  {
    tags: ['S1', 'S18'],
    title: 'a refusal names at most 20 holders, oldest epoch first, and counts them all',
    run: async ({ grant, refuse, lastNow }) => {
      const held = [];
      for (let i = 0; i < 25; i += 1) held.push(await grant({ parts: [shared('orders/0')], ttlMs: 40_000 - i * 100 }));
      const refusal = await refuse('orders/0');
      assert.equal(refusal.reason, 'held');
      assert.equal(refusal.holderCount, 25);
      assert.deepEqual(refusal.holders, held.slice(0, 20));
      const earliest = Math.min(...held.map(({ expiresAt }) => expiresAt));
      assert.equal(refusal.retryAfterMs, earliest - lastNow(), 'the earliest end of anything in the way');
    },
  },
  {
    tags: ['S1'],
    title: 'a subtree is refused while anything below it is held, and names every holder',
    run: async ({ grant, refuse, release }) => {
      const below = [await grant('a/x'), await grant('a/y/z'), await grant({ parts: [subtree('a/s')] })];
      await grant('ab');
      const refusal = await refuse({ parts: [subtree('a')] });
      assert.deepEqual(
        refusal.holders.map(({ id }) => id),
        below.map(({ id }) => id),
      );
      for (const lease of below) await release(lease);
      await grant({ parts: [subtree('a')] });
    },
  },
  {
    tags: ['S1'],
    title: 'a subtree covers names that did not exist when it was taken',
    run: async ({ grant, refuse, release }) => {
      const tree = await grant({ parts: [subtree('new')] });
      for (const name of ['new/1', 'new/2/3', 'new/😀', 'new/%']) assert.equal((await refuse(name)).reason, 'held');
      await release(tree);
      for (const name of ['new/1', 'new/2/3', 'new/😀', 'new/%']) await grant(name);
    },
  },
];
