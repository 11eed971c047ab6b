// Conformance, part four: a short crowded history, some answers lost on purpose, and a search for one order of its
// operations that explains every answer (history-linear.ts). Names are few, so that calls meet; a set and a subtree join
// some of them; leases are short, so that the clock ends some.
import type { Clock } from '../../domain/clock.js';
import { asExclusive, normaliseParts, type Part, type PartInput } from '../../domain/part.js';
import type { AcquireRequest } from '../../domain/requests.js';
import type { Store } from '../../stores/store.js';
import { FakeClock } from '../fake-clock.js';
import { FaultyStore } from '../faulty-store.js';
import type { Runner, StoreHarness } from './harness.js';
import { checkLinearizable, type LinearVerdict } from './history-linear.js';
import { readHistory, readRecords, type History } from './history-records.js';
import { chooseSeed } from './seed.js';
import type { WorkloadCounts, WorkloadOptions } from './concurrent.js';
import { WorkloadClient, type Held } from './workload-client.js';

export interface LinearOptions {
  readonly clock: Clock;
  readonly clients?: number | undefined;
  readonly durationMs?: number | undefined;
  readonly seed?: number | undefined;
  /** Is told what was found, for a report. */
  readonly tell?: ((found: LinearVerdict) => void) | undefined;
  /** Keeps a history that fails, since no seed brings it back, and says where. */
  readonly keep?: ((history: History, seed: number) => string) | undefined;
}

const CLIENTS = 8;
/** So many calls of each client take a second or two; on a machine that has much to do, longer. */
const MOST_CALLS = 80;
const DURATION_MS = 30_000;
const LANES = 2;
/** Of so many calls one is not answered: half of these have acted. */
const LOST_EVERY = 25;
const TTL_MS = { min: 100, spread: 200 };
const MOST_ASKED = 20;
const MOST_TICKETS = 1;

const SETS: readonly (readonly PartInput[])[] = [
  [{ name: 'room-1' }],
  [{ name: 'room-2' }],
  [{ name: 'pool', mode: 'shared', limit: 2 }],
  [{ name: 'pool', mode: 'shared' }],
  [{ name: 'pool' }],
  [{ name: 'tree', scope: 'subtree' }],
  [{ name: 'tree/leaf' }],
  [{ name: 'tree/leaf', mode: 'shared' }],
  [{ name: 'left' }, { name: 'right' }],
  [{ name: 'left', mode: 'shared' }],
  [{ name: 'right' }],
];

/** One client for a while: try, wait, claim, renew, release, cancel, repeat, upgrade, delegate, revoke. */
export async function linearWorkload(store: Store, options: WorkloadOptions): Promise<WorkloadCounts> {
  const { clock, seed, name, durationMs, record } = options;
  const dice = new FakeClock({ seed });
  const faulty = new FaultyStore(store, clock);
  const client = new WorkloadClient(faulty, { clock, name, record, dice });
  await client.lookAtTime();
  const end = clock.monotonic() + durationMs;
  const asked: AcquireRequest[] = [];
  const unheard: AcquireRequest[] = [];
  const lane = async (): Promise<void> => {
    while (clock.monotonic() < end && client.calls < MOST_CALLS) {
      if (dice.random() * LOST_EVERY < 1) {
        const calls = ['acquire', 'renew', 'end', 'change', 'revoke'] as const;
        faulty.order({ fault: dice.random() < 0.5 ? 'fail' : 'failAfter', calls });
      }
      await actOnce(client, unheard, asked, dice.random);
      await pause(clock, dice.random() * 8);
    }
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  const { calls, grants, failures } = client;
  return { calls, grants, failures };
}

async function actOnce(
  client: WorkloadClient,
  unheard: AcquireRequest[],
  asked: AcquireRequest[],
  random: () => number,
): Promise<void> {
  const one = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const ask = async (requests: readonly AcquireRequest[]): Promise<void> => {
    const { failures } = client;
    await client.acquire(requests);
    if (client.failures > failures) unheard.push(...requests);
  };
  const held = one([...client.held.values()]);
  const what = random();
  const requestId = client.newRequestId();
  const lost = random() < 0.5 ? unheard.shift() : undefined;
  if (lost) {
    // S15: what nobody answered is repeated, or ended by its id.
    if (random() < 0.5) await ask([lost]);
    else await client.end([{ id: lost.id, requestId, why: 'cancelled' }]);
  } else if (client.tickets.size > MOST_TICKETS) {
    const ticket = one([...client.tickets.values()]);
    if (ticket && random() < 0.7) await ask([ticket]);
    else if (ticket) await client.end([{ id: ticket.id, requestId, why: 'cancelled' }]);
  } else if (what < 0.3 || client.held.size === 0) {
    const requests = Array.from({ length: random() < 0.8 ? 1 : 2 }, () => newRequest(client, random));
    asked.push(...requests);
    asked.splice(0, asked.length - MOST_ASKED);
    await ask(requests);
  } else if (what < 0.45) {
    const again = one([...client.tickets.values()]) ?? one(asked);
    if (again) await ask([again]);
  } else if (what < 0.48) {
    const id = one(asked)?.id;
    if (id !== undefined) await client.end([{ id, requestId, why: 'cancelled' }]);
  } else if (what < 0.53) {
    const late = one(client.past);
    if (late) await client.end([{ id: late.id, epoch: late.epoch, requestId, why: 'released' }]);
  } else if (held) {
    await actOnHeld(client, held, what, requestId, random);
  }
}

async function actOnHeld(
  client: WorkloadClient,
  { id, epoch, parts }: Held,
  what: number,
  requestId: string,
  random: () => number,
): Promise<void> {
  if (what < 0.64) await client.renew([{ id, epoch, requestId, callerWall: client.wall }]);
  else if (what < 0.69)
    await client.change([{ kind: 'delegate', id, epoch, requestId, toOwner: `${client.name}-heir` }]);
  else if (what < 0.73) await client.change([{ kind: 'downgrade', id, epoch, requestId }]);
  else if (what < 0.78 && parts.some(({ mode }) => mode === 'shared')) {
    const wanted = { parts: asExclusive(parts), upgrades: { id, epoch }, join: false };
    await client.acquire([{ ...newRequest(client, random), ...wanted }]);
  } else if (what < 0.8) {
    const order = { reason: 'to see', actor: client.name, upToEpoch: client.epoch, keepOutMs: 0 };
    await client.revoke({ target: { leaseId: id }, ...order });
  } else if (what < 0.85) client.forget(id);
  else await client.end([{ id, epoch, requestId, why: 'released' }]);
}

function newRequest(client: WorkloadClient, random: () => number): AcquireRequest {
  const parts: Part[] = normaliseParts(SETS[Math.floor(random() * SETS.length)] ?? []);
  return {
    id: client.newId(),
    bornAt: client.now,
    owner: client.name,
    parts,
    ttlMs: TTL_MS.min + Math.floor(random() * TTL_MS.spread),
    priority: random() < 0.9 ? 0 : 1,
    join: random() < 0.5,
    holding: [],
    reclaim: false,
    maxRenewals: -1,
    minHoldMs: 0,
    lockDelayMs: 0,
    remote: false,
    callerWall: client.wall,
    handOver: random() < 0.5,
  };
}

function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve, true);
  });
}

/** `harness.open()` must give a store that goes by the real clock. */
export function linearPart(harness: StoreHarness, runner: Runner, options: LinearOptions): void {
  const { clock, clients = CLIENTS, durationMs = DURATION_MS, seed = chooseSeed(), tell, keep } = options;
  runner.describe(`${harness.name}: linearizable`, () => {
    const title = `S1, S2, S3, S4, S5, S8, Q1: one order explains what ${clients} clients saw (SEED=${seed})`;
    runner.test(title, async () => {
      const opened = await harness.open();
      try {
        const lines: string[] = [];
        const record = (line: string): void => void lines.push(line);
        const others = Array.from({ length: clients - 1 }, () => opened.another());
        const stores = [opened.store, ...(await Promise.all(others))];
        await Promise.all(
          stores.map((store, i) =>
            linearWorkload(store, { clock, seed: seed + i, name: `client-${i}`, durationMs, record }),
          ),
        );
        const records = readRecords(lines);
        const found = checkLinearizable(records);
        tell?.(found);
        const complaint = complaintOf(found);
        if (complaint === undefined) return;
        const kept = keep?.({ ...(await readHistory(opened.store)), records }, seed);
        throw new Error(kept === undefined ? complaint : `${complaint}\nthe whole history: ${kept}`);
      } finally {
        await opened.close();
      }
    });
  });
}

/** No order explains the records, the search gave up, or there was too little to show anything. */
function complaintOf(found: LinearVerdict): string | undefined {
  if (found.verdict !== 'linearizable') return found.sentence;
  if (found.operations >= 100 && found.open > 0) return undefined;
  return `${found.operations} operations, ${found.open} of them without an answer: this shows nothing`;
}
