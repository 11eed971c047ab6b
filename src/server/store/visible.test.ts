// What the port answers a caller that is bound to a prefix.
import { expect, test } from 'vitest';
import type { Caller } from '../context.js';
import { visibleResult } from './visible.js';

const bound: Caller = { tokenId: 'a1', name: 'ci', role: 'write', prefix: 'orders/eu', owner: undefined };

test('W3: of a deadlock a bound caller is told the steps inside, and that there are others', () => {
  const [inside, outside] = ['orders/eu/1', 'orders/us'].map((resource) => ({
    ticketId: `t-${resource}`,
    owner: `o-${resource}`,
    resource,
    heldBy: `h-${resource}`,
  }));
  const result = { outcome: 'deadlock', cycle: [inside, outside] };
  const seen = visibleResult(bound, result) as typeof result;
  expect(seen).toMatchObject({ outcome: 'deadlock', cycle: [inside, { resource: 'hidden' }] });
  expect(JSON.stringify(seen)).not.toContain('orders/us');
  expect(visibleResult({ ...bound, prefix: undefined }, result)).toBe(result);
});
