// Who waits behind what.
import { expect, test } from 'vitest';
import type { LeaseRecord, Part } from '../api/types.js';
import { ancestorsOf, Queues } from './queues.js';

const part = (name: string, scope: Part['scope'] = 'node'): Part => ({ name, scope, mode: 'exclusive' });
const ticket = (...parts: Part[]): LeaseRecord => ({ status: 'pending', parts }) as unknown as LeaseRecord;

test('tickets count behind the name itself, below a subtree and above by one', () => {
  const queues = new Queues([
    ticket(part('a/b')),
    ticket(part('a/b')),
    ticket(part('a/b/c')),
    ticket(part('a', 'subtree')),
  ]);
  expect(queues.at('a/b')).toBe(2);
  expect(queues.behind({ parts: [part('a/b')] })).toBe(3); // two of its name, one for everything below a
  expect(queues.behind({ parts: [part('a/b', 'subtree')] })).toBe(4);
  expect(queues.behind({ parts: [part('x')] })).toBe(0);
  expect(queues.behind({ parts: [part('a/x')] })).toBe(1);
});

test('leases are no tickets', () => {
  const lease = { status: 'active', parts: [part('a')] } as unknown as LeaseRecord;
  expect(new Queues([lease]).at('a')).toBe(0);
});

test('the ancestors of a name are its whole segments', () => {
  expect([...ancestorsOf('a/b/c')]).toEqual(['a/b', 'a']);
  expect([...ancestorsOf('a')]).toEqual([]);
});
