// In order after every change, as if it had been sorted anew.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { LeaseRecord } from '../api/types.js';
import { SortedRecords } from './sorted-records.js';

const record = (id: string, name: string, status: LeaseRecord['status']): LeaseRecord =>
  ({ id, status, parts: [{ name, scope: 'node', mode: 'exclusive' }] }) as unknown as LeaseRecord;
const nameOf = ({ parts }: LeaseRecord): string => parts[0]?.name ?? '';

test('whatever changes, the list is the sorted present', () => {
  const change = fc.record({
    id: fc.constantFrom('1', '2', '3', '4', '5', '6', '7', '8'),
    name: fc.constantFrom('a', 'b', 'c', 'd'),
    act: fc.constantFrom('active', 'pending', 'gone'),
  });
  fc.assert(
    fc.property(fc.array(fc.array(change, { maxLength: 4 }), { maxLength: 20 }), (steps) => {
      const sorted = new SortedRecords('active', nameOf);
      const records = new Map<string, LeaseRecord>();
      for (const step of steps) {
        for (const { id, name, act } of step) {
          if (act === 'gone') records.delete(id);
          else records.set(id, record(id, name, act));
        }
        const wanted = [...records.values()]
          .filter(({ status }) => status === 'active')
          .sort((a, b) => (nameOf(a) + a.id < nameOf(b) + b.id ? -1 : 1));
        expect(sorted.update(records)).toEqual(wanted);
      }
    }),
  );
});

test('where nothing changed the list is the same one', () => {
  const sorted = new SortedRecords('active', nameOf);
  const records = new Map([['1', record('1', 'a', 'active')]]);
  const first = sorted.update(records);
  records.set('2', record('2', 'b', 'pending'));
  expect(sorted.update(records)).toBe(first);
});
