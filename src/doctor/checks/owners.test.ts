// Who held what: when a change of owner is a fight, who came back, and which twins are none.
import { describe, expect, test } from 'vitest';
import { facts, lease, NOW, row } from '../../../test/support/doctor-facts.js';
import type { LogRow, StoredType } from '../../domain/events.js';
import type { Facts } from '../facts.js';
import { ownersCompeting, partition, restartedTwin } from './owners.js';

describe('C9: owners', () => {
  const takenTurns = (times: number, end: StoredType): LogRow[] =>
    Array.from({ length: times + 1 }, (_, i) => [
      row('lease.acquired', 200_000 - i * 1_000, `l${i}`, i % 2 === 0 ? 'a' : 'b', i + 1),
      ...(i < times ? [row(end, 199_500 - i * 1_000, `l${i}`, i % 2 === 0 ? 'a' : 'b', i + 1)] : []),
    ]).flat();

  test.each([
    [1, 'lease.expired', []],
    [2, 'lease.expired', ['warning']],
    [3, 'lease.revoked', ['wrong']],
    [19, 'lease.released', []],
    [20, 'lease.released', ['note']],
  ] as const)('%i changes by %s', (times, end, severities) => {
    const found = ownersCompeting(facts({ log: takenTurns(times, end) }));
    expect(found.map(({ severity }) => severity)).toEqual(severities);
  });

  test('shared leases of many owners are no change of owner; a delegation is a hand-over', () => {
    const parts = [{ name: 'orders/0', scope: 'node', mode: 'shared' }];
    const shared = Array.from({ length: 30 }, (_, i) =>
      row('lease.acquired', 1_000, `s${i}`, `o${i}`, i, { data: { parts } }),
    );
    expect(ownersCompeting(facts({ log: shared }))).toEqual([]);
    const handed = [
      row('lease.acquired', 900, 'x', 'a', 1),
      row('lease.delegated', 800, 'x', 'b', 2),
      row('lease.expired', 700, 'x', 'b', 2),
      row('lease.acquired', 600, 'y', 'a', 3),
    ];
    expect(ownersCompeting(facts({ log: handed }))).toEqual([]);
  });

  test('a lease that began before the window is known by its end', () => {
    const log = [
      row('lease.expired', 900, 'x', 'a', 1),
      row('lease.acquired', 800, 'y', 'b', 2),
      row('lease.queued', 700, 'z', 'a', 0),
    ];
    const [found] = partition(facts({ log }));
    expect(found?.what).toContain(
      'a lost orders/0 to others and came back: it was cut off, stood still, or was started anew',
    );
    expect(partition(facts({ log: log.slice(0, 2) }))).toEqual([]);
    const back = lease({ owner: 'a', renewedAt: NOW - 100 });
    expect(partition(facts({ log: log.slice(0, 2), leases: [back] }))).toHaveLength(1);
  });

  test('who takes its own name again after an expiry was not replaced', () => {
    const log = [row('lease.expired', 900, 'x', 'a', 1), row('lease.acquired', 800, 'y', 'a', 2)];
    expect(partition(facts({ log }))).toEqual([]);
  });

  test('a twin: reclaimed once is a note; two clocks a warning; tasks of one instance are none', () => {
    const reclaimed = [
      row('lease.released', 900, 'x', 'a', 1, { reason: 'reclaimed' }),
      row('lease.acquired', 900, 'y', 'a', 2),
    ];
    expect(restartedTwin(facts({ log: reclaimed }))).toMatchObject([{ severity: 'note' }]);
    const clocks = [lease({ skewMs: 0 }), lease({ id: 'b', skewMs: 1_200 })];
    expect(restartedTwin(facts({ leases: clocks }))).toMatchObject([{ severity: 'warning' }]);
    const ticket = (owner: string): Facts['graph'] => ({
      tickets: [
        {
          id: 't',
          owner,
          resource: 'r',
          arrival: 1,
          holding: [],
          waitsForLeases: [{ id: 'l', owner, resource: 'r' }],
          waitsForTickets: [],
        },
      ],
    });
    expect(restartedTwin(facts({ graph: ticket('web1-4242-abc123') }))).toEqual([]);
    expect(restartedTwin(facts({ graph: ticket('web1') }))).toHaveLength(1);
    expect(restartedTwin(facts({ graph: ticket('web1'), resource: 'other' }))).toEqual([]);
  });
});
