// What a store can say about the server or the file behind it, for `holdfast doctor`: named facts, read without changing
// anything and without touching the tables or keys that may be the trouble. Judging them is the doctor's part.

export type StoreHealth = SqliteHealth | PostgresHealth | RedisHealth;

export interface SqliteHealth {
  readonly kind: 'sqlite';
  readonly path: string;
  readonly fileBytes: number;
  readonly walBytes: number;
  /** What a user without special rights may still write on that file system, and all of it. */
  readonly freeBytes: number;
  readonly diskBytes: number;
  /** Its name where it is one that reaches over a network. */
  readonly networkFileSystem?: string | undefined;
  /** The process that has the file's write lock at this moment; undefined when nobody has, or it cannot be told. */
  readonly writer?: number | undefined;
  /** When the WAL was last written to, in milliseconds of the file system. */
  readonly walChangedAt: number;
}

export interface PostgresHealth {
  readonly kind: 'postgres';
  readonly connections: number;
  readonly maxConnections: number;
  readonly isReplica: boolean;
  readonly fsync: boolean;
  readonly synchronousCommit: string;
  /** False: of the sessions of other roles neither state nor age is shown to this one. */
  readonly seesAllSessions: boolean;
  /** The longest transactions of this database, at most ten. */
  readonly transactions: readonly PostgresTransaction[];
  /** Who waits for a lock on one of our tables or names, the longest first, at most ten. */
  readonly lockWaits: readonly PostgresLockWait[];
}
export interface PostgresTransaction {
  readonly pid: number;
  readonly application: string;
  readonly state: string;
  readonly ageMs: number;
}
export interface PostgresLockWait {
  readonly pid: number;
  readonly on: string;
  readonly waitedMs: number;
  readonly blockedBy: readonly number[];
}

export interface RedisHealth {
  readonly kind: 'redis';
  readonly usedBytes: number;
  /** 0: no limit. */
  readonly maxBytes: number;
  readonly policy: string;
  readonly evictedKeys: number;
  readonly appendonly: boolean;
  readonly appendWritesOk: boolean;
  readonly snapshotsOk: boolean;
  readonly clients: number;
  /** 0: not told. */
  readonly maxClients: number;
  readonly rejectedConnections: number;
}
