// Renewals: the thresholds, the count from log and records, and what was meant to end.
import { describe, expect, test } from 'vitest';
import { facts, lease, NOW, row } from '../../../test/support/doctor-facts.js';
import type { LogRow } from '../../domain/events.js';
import type { Lease } from '../../domain/lease.js';
import { DEFAULT_SETTINGS } from '../../domain/settings.js';
import type { Facts } from '../facts.js';
import { renewalsFailing, renewalsWithin } from './renewals.js';

describe('C9: renewals', () => {
  test('those within the window, by the average of the lease', () => {
    const since = NOW - 300_000;
    expect(renewalsWithin(lease({ renewals: 0 }), since)).toBe(0);
    expect(renewalsWithin(lease({ renewals: 3 }), since)).toBe(3);
    expect(renewalsWithin(lease({ renewals: 100, acquiredAt: NOW - 600_000, renewedAt: NOW }), since)).toBe(50);
    expect(renewalsWithin(lease({ renewals: 100, acquiredAt: NOW - 900_000, renewedAt: since - 1 }), since)).toBe(0);
  });

  const ran = (id: string): LogRow => row('lease.expired', 10_000, id, 'dead', 1);
  const ended = (id: string, more: Partial<Lease> = {}): [string, Lease] => [
    id,
    lease({
      id,
      status: 'expired',
      owner: 'dead',
      renewals: 1,
      renewedAt: NOW - 40_000,
      expiresAt: NOW - 10_000,
      ...more,
    }),
  ];

  test.each([
    [100, 1, []],
    [19, 1, ['warning']],
    [8, 2, ['warning']],
    [7, 2, ['wrong']],
    [0, 1, ['wrong']],
  ] as const)('%i came and %i did not: %j', (came, lost, severities) => {
    const log = Array.from({ length: lost }, (_, i) => ran(`x${i}`));
    const renewed = Array.from({ length: came }, (_, i) => row('lease.renewed', 1_000 + i, 'live', 'well', 2));
    const settings = { ...DEFAULT_SETTINGS, history_renewals: true };
    const known = new Map(log.map(({ leaseId = '' }) => ended(leaseId)));
    const found = renewalsFailing(facts({ log: [...log, ...renewed], settings, ended: known }));
    expect(found.map(({ severity }) => severity)).toEqual(severities);
    if (found[0]) expect(found[0].what).toContain('by the log');
  });

  test('what was meant to end is no failure: a bound reached, or never renewed by an owner that is gone', () => {
    const log = [ran('x')];
    const of = (more: Partial<Lease>): Facts => facts({ log, ended: new Map([ended('x', more)]) });
    expect(renewalsFailing(of({}))).toHaveLength(1);
    expect(renewalsFailing(of({ maxRenewals: 1 }))).toEqual([]);
    expect(renewalsFailing(of({ ttlMs: 40_000 }))).toEqual([]); // cut by maxHold
    expect(renewalsFailing(of({ renewals: 0 }))).toEqual([]);
    const livedOn = [...log, row('lease.acquired', 500, 'z', 'dead', 2)];
    expect(renewalsFailing({ ...of({ renewals: 0 }), log: livedOn })).toHaveLength(1);
  });

  test('a live lease whose renewal is overdue counts before it runs out', () => {
    const silent = lease({ renewedAt: NOW - 29_990, expiresAt: NOW + 10, acquiredAt: NOW - 31_000, renewals: 1 });
    const [found] = renewalsFailing(facts({ leases: [silent] }));
    expect(found?.evidence[1]).toBe('orders/0 of agent-a was renewed 30 s ago and lives 30 s: overdue');
  });
});
