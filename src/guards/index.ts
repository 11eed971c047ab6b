// holdfast/guards: fencing enforced where the write happens. Each guard makes the check and the effect one step (S11).
export type { FenceWrite } from './fence.js';
export { fileGate, type FileGate, type FileGateOptions } from './file-gate.js';
export { gateTableSql, type SqlDialect } from './gate-table.js';
export type { FenceGate, KeepingGate } from './gate.js';
export { memoryGate } from './memory-gate.js';
export type { PostgresTransaction } from './postgres-client.js';
export { sqlGate } from './sql-gate.js';
export type { SqliteDatabase, SqliteStatement } from './sqlite-fence.js';
export { guardSqlite, type GuardSqliteOptions } from './sqlite-guard.js';
export { fenceHeaders, httpFence, type FencedRequest, type HttpFence, type HttpFenceOptions } from './http-fence.js';
export { expressFence, fastifyFence, honoFence, type MiddlewareOptions } from './http-middleware.js';
export { redisGate, type RedisGate } from './redis-gate.js';
export type { IoRedisLike, NodeRedisLike, RedisClient } from './redis-script.js';
export { guardedKey, guardedScript, type GuardedScript } from './guarded-script.js';
export { guardPostgres, type GuardPostgresOptions } from './postgres-guard.js';
