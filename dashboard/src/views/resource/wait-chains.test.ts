// The wait-for graph as sentences: queues, chains, circles.
import { expect, test } from 'vitest';
import type { WaitGraph } from '../../api/types.js';
import { chainsFor, isStuck, type Chain } from './wait-chains.js';

type Ticket = WaitGraph['tickets'][number];
/** `waits` are leases as 'id owner resource'. */
function ticket(owner: string, resource: string, holding: string[], waits: string[]): Ticket {
  const waitsForLeases = waits.map((text) => {
    const [id = '', holder = '', name = ''] = text.split(' ');
    return { id, owner: holder, resource: name };
  });
  return { id: `t-${owner}`, owner, resource, arrival: 1, holding, waitsForLeases, waitsForTickets: [] };
}
function told(chains: readonly Chain[]): unknown[] {
  return chains.map(({ count, waiters, resource, heldBy, next, isCircle }) => [
    `${waiters.join('+')}${count > waiters.length ? `+${count - waiters.length}` : ''} > ${resource} > ${heldBy}`,
    ...(isCircle ? ['circle'] : []),
    ...told(next),
  ]);
}

test('a queue behind one holder is one sentence, and not stuck', () => {
  const tickets = ['a', 'b', 'c', 'd'].map((owner) => ticket(owner, 'x', [], ['l1 ann x']));
  const chains = chainsFor({ tickets }, 'x');
  expect(told(chains)).toEqual([['a+b+c+1 > x > ann']]);
  expect(isStuck(chains)).toBe(false);
});

test('a holder that waits itself is followed', () => {
  const tickets = [ticket('tim', 'x', [], ['l1 ann x']), ticket('ann', 'y', ['l1'], ['l2 bob y'])];
  const chains = chainsFor({ tickets }, 'x');
  expect(told(chains)).toEqual([['tim > x > ann', ['ann > y > bob']]]);
  expect(isStuck(chains)).toBe(true);
});

test('a circle is told once and not followed for ever', () => {
  const tickets = [ticket('bob', 'x', ['l2'], ['l1 ann x']), ticket('ann', 'y', ['l1'], ['l2 bob y'])];
  expect(told(chainsFor({ tickets }, 'x'))).toEqual([
    ['bob > x > ann', ['ann > y > bob', ['bob > x > ann', 'circle']]],
  ]);
});

test('other resources are not told', () => {
  expect(chainsFor({ tickets: [ticket('tim', 'x', [], ['l1 ann x'])] }, 'z')).toEqual([]);
});
