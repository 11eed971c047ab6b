// Clocks, latency, queues, streams and what is behind the store: where each of them begins to be trouble.
import { describe, expect, test } from 'vitest';
import { facts, lease, NOW, row } from '../../../test/support/doctor-facts.js';
import type { Lease } from '../../domain/lease.js';
import { clockSkew } from './clocks.js';
import { storeLatency } from './latency.js';
import { storeHealth } from './store-health.js';
import { streamTrouble } from './streams.js';
import { deadlocks, oldLeases, storeRestarted, stuckQueues } from './waiting.js';

describe('C9: clocks, latency, waiting', () => {
  test.each([
    [2_000, []],
    [2_001, ['warning']],
    [-5_000, ['warning']],
    [-5_001, ['wrong']],
  ] as const)('a skew of %i ms', (skewMs, severities) => {
    expect(clockSkew(facts({ tickets: [lease({ skewMs })] })).map(({ severity }) => severity)).toEqual(severities);
    expect(clockSkew(facts({ ownSkewMs: skewMs })).map(({ severity }) => severity)).toEqual(severities);
  });

  test.each([
    [[5, 5, 5], 0, []],
    [[150, 150, 150], 0, ['warning']],
    [[5, 5, 5, 1_100], 0, ['warning']],
    [[1_000, 1_000], 0, ['wrong']],
    [[5, 5], 1, ['wrong']],
  ] as const)('answers in %j ms, %i without one', (answeredMs, timedOut, severities) => {
    const calls = { answeredMs, timedOut, limitMs: 2_000 };
    expect(storeLatency(facts({ calls })).map(({ severity }) => severity)).toEqual(severities);
  });

  test('a queue: long waits, many waiters, a silent holder, a full namespace', () => {
    const ticket = (i: number, waitedMs: number): Lease =>
      lease({ id: `t${i}`, status: 'pending', acquiredAt: NOW - waitedMs });
    expect(stuckQueues(facts({ tickets: [ticket(1, 299_000)] }))).toEqual([]);
    expect(stuckQueues(facts({ tickets: [ticket(1, 300_000)] }))).toMatchObject([{ severity: 'warning' }]);
    const waitsForLeases = [{ id: 'a', owner: 'agent-a', resource: 'orders/0' }];
    const graph = {
      tickets: [
        { id: 't1', owner: 'b', resource: 'orders/0', arrival: 1, holding: [], waitsForLeases, waitsForTickets: [] },
      ],
    };
    const silent = lease({ ttlMs: 3_600_000, renewedAt: NOW - 3_599_000, renewals: 0 });
    const behind = stuckQueues(facts({ tickets: [ticket(1, 300_000)], graph, leases: [silent] }));
    expect(behind).toMatchObject([{ severity: 'wrong', next: 'holdfast show orders/0' }]);
    const crowd = Array.from({ length: 8_000 }, (_, i) => ticket(i, 1_000));
    expect(stuckQueues(facts({ tickets: crowd })).map(({ severity }) => severity)).toEqual(['warning', 'wrong']);
  });

  test('a deadlock, an old lease, a new life of the store', () => {
    const ticket = (id: string, holds: string, wants: string) =>
      ({
        id,
        owner: id,
        resource: wants,
        arrival: 1,
        holding: [holds],
        waitsForLeases: [{ id: wants, owner: 'x', resource: wants }],
        waitsForTickets: [],
      }) as const;
    const graph = { tickets: [ticket('t1', 'l1', 'l2'), ticket('t2', 'l2', 'l1')] };
    expect(deadlocks(facts({ graph }))).toMatchObject([
      { severity: 'wrong', evidence: [expect.any(String), expect.any(String)] },
    ]);
    expect(deadlocks(facts({ graph, resource: 'elsewhere' }))).toEqual([]);
    const old = lease({ acquiredAt: NOW - 3_601_000 });
    expect(oldLeases(facts({ leases: [old] }))).toMatchObject([{ severity: 'note' }]);
    expect(oldLeases(facts({ leases: [{ ...old, renewedAt: NOW - 40_000 }] }))).toMatchObject([
      { severity: 'warning' },
    ]);
    const log = [
      row('store.incarnation', 100, '', '', 0, { reason: 'restarted' }),
      row('store.clock_stepped', 50, '', '', 0, { data: { byMs: -9_000 } }),
    ];
    expect(storeRestarted(facts({ log })).map(({ what }) => what)).toEqual([
      'a new life of the store began 100 ms ago: answered writes before it may be lost, epochs are not',
      "the store's own clock stepped by -9 s 50 ms ago",
    ]);
  });

  test('streams: a number nobody recovers is wrong, more than a hundred gaps a warning', () => {
    const oldestOpen = {
      number: 3,
      state: 'leased',
      operationId: 'o',
      kind: 'k',
      owner: 'w',
      leasedAt: 0,
      expiresAt: 0,
      dueAt: NOW - 121_000,
    } as const;
    const stream = {
      name: 's',
      leased: 9,
      open: 1,
      watermark: 2,
      seal: 2,
      trimmedBefore: 1,
      gaps: 101,
      moved: 0,
      manual: 0,
      readers: [],
    };
    expect(streamTrouble(facts({ streams: [{ ...stream, oldestOpen }] }))).toMatchObject([
      { severity: 'wrong', next: 'holdfast seq recover s' },
      { severity: 'warning', what: 's has 101 gaps' },
    ]);
  });
});

describe('C9: what is behind the store', () => {
  const MIB = 1024 * 1024;
  test('room on the disk, a network file system', () => {
    const file = {
      kind: 'sqlite',
      path: '/a b/l.db',
      fileBytes: MIB,
      walBytes: 0,
      freeBytes: 50 * MIB,
      diskBytes: 100 * MIB,
      walChangedAt: 0,
    } as const;
    expect(storeHealth(facts({ health: file }))).toMatchObject([{ severity: 'wrong', next: "df -h '/a b/l.db'" }]);
    const far = { ...file, freeBytes: 2048 * MIB, networkFileSystem: 'NFS' };
    expect(storeHealth(facts({ health: far }))).toMatchObject([
      { severity: 'warning', what: expect.stringContaining('NFS') as string },
    ]);
    expect(storeHealth(facts({ health: { ...far, networkFileSystem: undefined } }))).toEqual([]);
  });

  test('PostgreSQL that forgets; Redis that evicts', () => {
    const server = {
      kind: 'postgres',
      connections: 1,
      maxConnections: 97,
      isReplica: true,
      fsync: false,
      synchronousCommit: 'off',
      seesAllSessions: true,
      transactions: [],
      lockWaits: [],
    } as const;
    expect(storeHealth(facts({ health: server })).map(({ severity }) => severity)).toEqual([
      'wrong',
      'wrong',
      'warning',
    ]);
    const redis = {
      kind: 'redis',
      usedBytes: 1,
      maxBytes: 0,
      policy: 'allkeys-lru',
      evictedKeys: 0,
      appendonly: true,
      appendWritesOk: false,
      snapshotsOk: true,
      clients: 98,
      maxClients: 100,
      rejectedConnections: 2,
    } as const;
    expect(storeHealth(facts({ health: redis })).map(({ severity }) => severity)).toEqual(['wrong', 'wrong', 'wrong']);
    expect(
      storeHealth(
        facts({ health: { ...redis, policy: 'volatile-lru', evictedKeys: 5, appendWritesOk: true, clients: 1 } }),
      ),
    ).toMatchObject([
      { severity: 'warning', what: expect.stringContaining('5 keys of others were evicted') as string },
    ]);
  });
});
