// What `holdfast bench` measures, through the library as a program uses it: taking and giving back names of their own, taking
// turns at one name, and how long after a release the next holder has it, over another connection. Every case is bounded in
// time and in samples.
import type { Clock } from '../domain/clock.js';
import { LeaseError } from '../domain/errors.js';
import type { Holdfast } from '../holdfast.js';

export interface Figures {
  readonly name: string;
  readonly clients: number;
  readonly operations: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

export interface Bench {
  readonly clock: Clock;
  /** Two connections of one world. */
  readonly leases: Holdfast;
  readonly others: Holdfast;
  readonly forMs: number;
  readonly signal: AbortSignal;
}

export interface Case {
  readonly name: string;
  readonly clients: number;
  readonly run: (bench: Bench, clients: number) => Promise<number[]>;
}

const MOST_SAMPLES = 1_000_000;
const WAIT = '30s';

export const CASES: readonly Case[] = [
  { name: 'own names', clients: 1, run: apart },
  { name: 'own names', clients: 32, run: apart },
  { name: 'own names', clients: 256, run: apart },
  { name: 'one name', clients: 32, run: inTurn },
  { name: 'one name', clients: 256, run: inTurn },
  { name: 'hand-over', clients: 2, run: handOver },
];

export async function measure(bench: Bench, one: Case): Promise<Figures> {
  const startedAt = bench.clock.monotonic();
  const samples = (await one.run(bench, one.clients)).toSorted((a, b) => a - b);
  const seconds = (bench.clock.monotonic() - startedAt) / 1_000;
  const at = (percent: number): number => rounded(samples[Math.ceil((percent / 100) * samples.length) - 1] ?? 0);
  return {
    name: one.name,
    clients: one.clients,
    operations: samples.length,
    perSecond: Math.round(samples.length / Math.max(seconds, 0.001)),
    p50Ms: at(50),
    p95Ms: at(95),
    p99Ms: at(99),
    maxMs: at(100),
  };
}

function rounded(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}

/** Acquire and release together. */
async function apart(bench: Bench, clients: number): Promise<number[]> {
  return together(bench, clients, async (client) => {
    const attempt = await bench.leases.tryAcquire(`bench/${client}`, { signal: bench.signal });
    if (attempt.ok) await attempt.lease.release();
    return attempt.ok;
  });
}

/** From asking for the name that everybody wants until it is given back. */
async function inTurn(bench: Bench, clients: number): Promise<number[]> {
  return together(bench, clients, async (client) => {
    const { leases, others, signal } = bench;
    const lease = await (client % 2 === 0 ? leases : others).acquire('bench/one', { wait: WAIT, signal });
    await lease.release();
    return true;
  });
}

async function together(
  { clock, forMs, signal }: Bench,
  clients: number,
  act: (client: number) => Promise<boolean>,
): Promise<number[]> {
  const until = clock.monotonic() + forMs;
  const samples: number[] = [];
  const client = async (number: number): Promise<void> => {
    while (clock.monotonic() < until && !signal.aborted && samples.length < MOST_SAMPLES) {
      const sentAt = clock.monotonic();
      if (await unlessAborted(signal, () => act(number))) samples.push(clock.monotonic() - sentAt);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  return samples;
}

/** From the release to the next holder's grant, over another connection. */
async function handOver({ clock, leases, others, forMs, signal }: Bench): Promise<number[]> {
  const until = clock.monotonic() + forMs;
  const samples: number[] = [];
  let queued = (): void => undefined;
  const stop = others.on('lease.queued', () => queued());
  try {
    while (clock.monotonic() < until && !signal.aborted && samples.length < MOST_SAMPLES) {
      const isDone = await unlessAborted(signal, async () => {
        const held = await leases.acquire('bench/hand-over', { wait: WAIT, signal });
        const inLine = new Promise<void>((resolve) => {
          queued = resolve;
        });
        const next = others.acquire('bench/hand-over', { wait: WAIT, signal });
        next.catch(() => undefined); // it is waited for below, unless the release fails first
        await Promise.race([inLine, next]);
        const releasedAt = clock.monotonic();
        await held.release();
        const taken = await next;
        samples.push(clock.monotonic() - releasedAt);
        await taken.release();
        return true;
      });
      if (!isDone) break;
    }
  } finally {
    stop();
  }
  return samples;
}

/** Being told to stop is no failure. */
async function unlessAborted(signal: AbortSignal, act: () => Promise<boolean>): Promise<boolean> {
  try {
    return await act();
  } catch (error) {
    if (signal.aborted && error instanceof LeaseError && error.code === 'ACQUIRE_ABORTED') return false;
    throw error;
  }
}
