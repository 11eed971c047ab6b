// The real clock: the only file that reads time or draws randomness; its timers are in system-timers.ts. Everything else is
// handed one of these.
import { randomBytes } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname, platform, uptime } from 'node:os';
import type { Clock } from './domain/clock.js';
import { SystemTimers } from './system-timers.js';

const NANOS_PER_MS = 1e6;
/** Whole texts of 15 bytes, which are 20 characters without a rest. */
const POOL_BYTES = 256 * 15;
const TEXT_CHARACTERS = 20;

const timers = new SystemTimers(monotonic);
const after: Clock['after'] = (ms, fn, keepAlive) => timers.after(ms, fn, keepAlive);

export function systemClock(): Clock {
  return { monotonic, wall: Date.now, machine, after, soon: setImmediate, random: Math.random, randomText };
}

/** CLOCK_MONOTONIC counts from boot, so all processes of a machine read the same value. Read a dozen times a lease, and not taken apart by
 *  a pattern: in a process that is still cold that is an iterator, and the larger part of the call. */
function monotonic(): number {
  const time = process.hrtime();
  return time[0] * 1_000 + time[1] / NANOS_PER_MS;
}

let machineName: string | undefined;

/** Linux names each boot and each time namespace. Elsewhere the boot time, to the minute, has to do. */
function machine(): string {
  if (machineName !== undefined) return machineName;
  if (platform() === 'linux') {
    machineName = `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${readlinkSync('/proc/self/ns/time')}`;
  } else {
    machineName = `${platform()}/${hostname()}/${Math.round((Date.now() / 1_000 - uptime()) / 60)}`;
  }
  return machineName;
}

/** 120 bits as 20 base64url characters. They are drawn and written as text in pools: one call of each serves hundreds of ids. */
function randomText(): string {
  if (poolAt === pool.length) {
    pool = randomBytes(POOL_BYTES).toString('base64url');
    poolAt = 0;
  }
  poolAt += TEXT_CHARACTERS;
  return pool.slice(poolAt - TEXT_CHARACTERS, poolAt);
}
let pool = '';
let poolAt = 0;
