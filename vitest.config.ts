// The projects: `tidy` keeps the house rules (part of `make check`), `unit` stands beside the source, `stores` is what every
// store and guard is asked one step at a time, `conformance` spans parts: child processes, faults, simulation; `outside` is what
// users meet: command, server, documents; `browser` is the page in a real Chromium; `faults` is the crowd under misfortune.
// An error nobody handled fails the run, always.

import { defineConfig } from 'vitest/config';

const OUTSIDE = [
  'test/{cli,docs,doctor,examples,observe,server}/**/*.test.ts',
  'test/stores/http{,-programs,-sqlite}.test.ts',
  'test/faults/http-server.test.ts',
];
/** Named cases, random programs, attacks on guards, and what a store is asked one step at a time: nothing in them is timed, so two files
 *  share the machine. */
const STORES = [
  'test/guards/{attacks,gates,guarded-script,middleware}.test.ts',
  'test/stores/{memory,postgres,redis,sqlite}{,-programs,-sequences}.test.ts',
  'test/stores/{tiny-store,sqlite-tail-programs,broken-stores}.test.ts',
  'test/stores/postgres-{life,link,lock-order,locks,log,log-lists,notify,older-schema,pooled,restore,revoke,rights,sequence-transactions,short-ways}.test.ts',
  'test/stores/redis-{broken-log,cluster-nodes,full,history,ioredis,life,link-cluster,link-process,link-replicas,one-item,plain-lists,prune,streams}.test.ts',
  'test/stores/sqlite-{clock,kept-snapshot,names,restore,sequences-disk,tail}.test.ts',
  'test/faults/{postgres-addresses,postgres-replica,postgres-tls,redis-connections}.test.ts',
];
const CROWD = 'test/faults/crowd/**';
const patient = { pool: 'forks', testTimeout: 120_000, hookTimeout: 120_000 } as const;

export default defineConfig({
  test: {
    dangerouslyIgnoreUnhandledErrors: false,
    projects: [
      { test: { name: 'tidy', include: ['test/tidy/**/*.test.ts'], testTimeout: 20_000 } },
      {
        test: {
          name: 'unit',
          include: ['{src,dashboard}/**/*.test.ts'],
          isolate: false, // one process for many files: what they share is what programs share that open several managers
          maxWorkers: 2,
          sequence: { groupOrder: 5 },
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: 'conformance',
          include: ['test/**/*.test.ts'],
          exclude: ['test/{tidy,browser}/**', CROWD, ...STORES, ...OUTSIDE],
          fileParallelism: false, // timings and eight processes at a time want the machine to themselves
          ...patient,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['test/browser/**/*.test.ts'],
          fileParallelism: false, // one browser at a time
          sequence: { groupOrder: 2 },
          ...patient,
        },
      },
      { test: { name: 'stores', include: STORES, maxWorkers: 2, sequence: { groupOrder: 4 }, ...patient } },
      { test: { name: 'outside', include: OUTSIDE, maxWorkers: 3, sequence: { groupOrder: 1 }, ...patient } },
      {
        test: {
          name: 'faults',
          include: [`${CROWD}/*.test.ts`],
          maxWorkers: 4, // they mostly wait
          sequence: { groupOrder: 3 },
          ...patient,
        },
      },
    ],
  },
});
