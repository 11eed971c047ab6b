// The steps an actor's program is made of. Each leaves nothing in the actor's hands: what it took it lets go in some way.
import type { HeldLease } from '../../src/manager/face.js';
import { leaseText, lifeOf, type Actor } from './actor.js';
import type { Handle, Operation } from './ledger.js';
import type { Profile } from './profile.js';
import type { SimulatedProcess } from './simulated-process.js';
import { turnFrom, wishFrom, wishText } from './wishes.js';

/** The longest `holdFor`, a release and what it may take to renew by hand. */
const LONGEST_WORK_MS = 5_000;
/** Two calls, each given this long. */
const REVOKE_MS = 20_000;

export type Step = (actor: Actor, everybody: readonly SimulatedProcess[]) => Promise<void>;

async function holdFor(actor: Actor, handle: Handle): Promise<void> {
  const { random, process } = actor;
  for (let i = random.whole(0, 3); i > 0; i -= 1) {
    await process.sleep(random.pick([1, 30, 200, 700]) * random.next());
    actor.expectOneAnswer(handle.lease);
    if (random.chance(0.2)) await renewByHand(actor, handle.lease);
    if (random.chance(0.2)) handle.lease.progress();
    if (!handle.lease.isHeld) break;
  }
}

async function renewByHand(actor: Actor, lease: HeldLease): Promise<void> {
  const renew = async (): Promise<string> => ((await lease.tryRenew()) ? 'renewed' : 'not renewed');
  await actor.ask(`renew ${leaseText(lease)}`, lifeOf(lease), lease.id, renew, (words) => words);
}

async function letGo(actor: Actor, handle: Handle): Promise<void> {
  if (actor.random.chance(0.12)) actor.abandon(handle);
  else await actor.release(handle);
}

const holdOnce: Step = async (actor) => {
  const wish = wishFrom(actor.random, { mayWaitForever: true });
  const handle = await actor.acquire(wish);
  if (!handle) return;
  await holdFor(actor, handle);
  await letGo(actor, handle);
};

/** One of a line: mostly for a moment, sometimes for longer than a ticket lives. */
const takeTurn: Step = async (actor) => {
  const { random, process } = actor;
  const handle = await actor.acquire(turnFrom(random));
  if (!handle) return;
  await holdFor(actor, handle);
  if (random.chance(0.1)) await process.sleep(random.between(1_000, 14_000));
  if (random.chance(0.03)) actor.abandon(handle);
  else await actor.release(handle);
};

const tryOnce: Step = async (actor) => {
  const handle = await actor.tryAcquire(wishFrom(actor.random, { mayWaitForever: false }));
  if (!handle) return;
  await holdFor(actor, handle);
  await letGo(actor, handle);
};

const holdNested: Step = async (actor) => {
  const { random } = actor;
  const outer = await actor.acquire(wishFrom(random, { mayWaitForever: true }));
  if (!outer) return;
  await holdFor(actor, outer);
  const inner = await actor.acquire(wishFrom(random, { mayWaitForever: true }), outer.lease);
  if (inner) await holdFor(actor, inner);
  const inHand = random.shuffled(inner ? [outer, inner] : [outer]);
  if (random.chance(0.5)) await Promise.all(inHand.map((handle) => letGo(actor, handle)));
  else for (const handle of inHand) await letGo(actor, handle);
};

const upgradeAndBack: Step = async (actor) => {
  const { random } = actor;
  const handle = await actor.acquire(wishFrom(random, { mayWaitForever: true, isShared: true }));
  if (!handle) return;
  const { lease } = handle;
  await holdFor(actor, handle);
  const waitMs = random.pick([0, 100, 900, 4_000]);
  const upgrade = async (): Promise<string> => lease.upgrade({ wait: waitMs }).then(() => leaseText(lease));
  const upgraded = await actor.ask(
    `upgrade ${leaseText(lease)}, wait ${waitMs}`,
    waitMs,
    lease.id,
    upgrade,
    (text) => `upgraded to ${text}`,
  );
  if (upgraded !== undefined) {
    actor.expectEpoch(lease);
    await holdFor(actor, handle);
  }
  if (upgraded !== undefined && random.chance(0.5)) {
    const downgrade = async (): Promise<string> => lease.downgrade().then(() => 'downgraded');
    await actor.ask(`downgrade ${leaseText(lease)}`, lifeOf(lease), lease.id, downgrade, (text) => text);
    await holdFor(actor, handle);
  }
  await letGo(actor, handle);
};

const handOver: Step = async (actor, everybody) => {
  const { random, process } = actor;
  const handle = await actor.acquire(wishFrom(random, { mayWaitForever: true }));
  if (!handle) return;
  await holdFor(actor, handle);
  const others = everybody.filter(({ owner }) => owner !== process.owner);
  const to = random.pick(others);
  const { lease } = handle;
  const lifeMs = lifeOf(lease);
  handle.letGo = 'delegated';
  const what = `delegate ${leaseText(lease)} to ${to.owner}`;
  const document = await actor.ask(
    what,
    lifeMs,
    lease.id,
    () => lease.delegate(to.owner),
    () => 'delegated',
  );
  if (document !== undefined) {
    to.inbox.push({ document, leaseId: lease.id });
    return;
  }
  delete handle.letGo; // refused before it was sent, or nobody knows: what is left of it is let go
  await actor.release(handle);
};

const takeOver: Step = async (actor) => {
  const { random, process } = actor;
  if (process.inbox.length === 0) await process.sleep(random.between(0, 500));
  const letter = process.inbox.pop();
  if (!letter) return;
  const { document, leaseId } = letter;
  let handle: Handle | undefined;
  const resume = async (): Promise<HeldLease> => {
    const lease = await process.leases.resume(document);
    handle = process.ledger.hold(process, lease);
    return lease;
  };
  await actor.ask(`resume ${leaseId.slice(-5)}`, 2_000, leaseId, resume, (lease) => `resumed ${leaseText(lease)}`);
  if (!handle) return;
  await holdFor(actor, handle);
  await letGo(actor, handle);
};

/** Work under a lease: acquire, run, release in one call. */
const workWithin: Step = async (actor) => {
  const { random, process } = actor;
  const wish = wishFrom(random, { mayWaitForever: true });
  const work = async (operation: Operation, lease: HeldLease): Promise<void> => {
    const handle = process.ledger.hold(process, lease);
    process.ledger.settle(operation, () => `granted ${leaseText(lease)}`); // its wait is over, the call is not
    await holdFor(actor, handle);
    handle.letGo = 'released';
  };
  const call = async (operation: Operation): Promise<void> => {
    const options = { ...wish.options, operationId: operation.key };
    await process.leases.withLease(wish.parts, options, (lease) => work(operation, lease));
  };
  await actor.ask(`withLease ${wishText(wish)}`, wish.waitMs, undefined, call, () => 'the work is done');
};

/** Holds again after every loss, until it is told to stop. */
const keepForAWhile: Step = async (actor) => {
  const { random, process } = actor;
  const wish = wishFrom(random, { mayWaitForever: true });
  const controller = new AbortController();
  const work = async (lease: HeldLease): Promise<void> => {
    const handle = process.ledger.hold(process, lease);
    await holdFor(actor, handle);
    handle.letGo = 'released';
  };
  const call = async (operation: Operation): Promise<void> => {
    const stop = (): void => {
      operation.abortedAt = process.clock.monotonic() + LONGEST_WORK_MS; // work that has begun may end
      controller.abort();
    };
    const timer = process.clock.after(random.between(0, 3_000), stop);
    const options = { ...wish.options, operationId: operation.key, signal: controller.signal };
    try {
      await process.leases.keep(wish.parts, options, work);
    } finally {
      timer.cancel();
    }
  };
  await actor.ask(`keep ${wishText(wish)}`, Infinity, undefined, call, () => 'kept until it was told to stop');
};

const revokeSomething: Step = async (actor) => {
  const { random, process } = actor;
  const resource = random.pick(['a', 'b', 'c', 'a/x']);
  const revoke = async (): Promise<number> =>
    (await process.leases.revoke({ resource, reason: 'the simulation wants it', actor: process.owner })).length;
  await actor.ask(`revoke ${resource}`, REVOKE_MS, undefined, revoke, (count) => `${count} ended`);
};

const idle: Step = async (actor) => actor.process.sleep(actor.random.between(0, 400));

const STEPS: readonly Step[] = [
  ...[holdOnce, holdOnce, holdOnce, holdOnce],
  ...[tryOnce, tryOnce],
  ...[holdNested, holdNested],
  ...[upgradeAndBack, upgradeAndBack],
  ...[handOver, takeOver, takeOver],
  ...[workWithin, keepForAWhile, revokeSomething, idle],
];

const THEME_SHARE = 0.6;
const THEMES: Readonly<Record<Profile['theme'], readonly Step[]>> = {
  anything: STEPS,
  changes: [upgradeAndBack, upgradeAndBack, handOver, revokeSomething],
  nesting: [holdNested],
};

/** A random program, to its end or until its process is shut down. */
export async function runProgram(
  actor: Actor,
  { steps, theme, turnsShare }: Profile,
  everybody: readonly SimulatedProcess[],
): Promise<void> {
  const { random, process } = actor;
  for (let i = 0; i < steps && process.state !== 'ended'; i += 1) {
    const isTurn = turnsShare > 0 && random.chance(turnsShare);
    const step = isTurn ? takeTurn : random.pick(random.chance(THEME_SHARE) ? THEMES[theme] : STEPS);
    await step(actor, everybody);
  }
}
