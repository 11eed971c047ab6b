// How soon another process holds: after a release (two processes hand one name to and fro), after the holder was killed with
// SIGKILL, and after it was stopped with SIGSTOP, which is what a long pause looks like to others. The last two are bound to the
// time to live, the same for all: their rounds run side by side. Releases are a matter of milliseconds: one contender at a time.
import { setTimeout as delay } from 'node:timers/promises';
import { median } from '../measure.mjs';
import { scaled } from '../scale.mjs';
import { attempt } from './attempt.mjs';
import { takingPart } from './contenders.mjs';
import { Holder } from './holder.mjs';
import { PATIENCE_MS, TTL_MS } from './rows.mjs';

const LONGEST_WAIT_MS = 60_000;
const RELEASES = scaled(20, 3);
const LOSSES = scaled(4, 1);
const WARM_UP = scaled(100, 10);
/** Those who ask again after a pause are met at any moment of it; the others need not be waited for as long. */
const PAUSE_MS = { slow: 320, fast: 60 };
const SLOW = ['redlock', '@verrou/core'];

export async function takeover(say, places) {
  const figures = [];
  for (const one of takingPart('release')) {
    say(`public: hand-over after a release, ${one.id}`);
    figures.push(await releases(one, places.of(one)));
  }
  say('public: hand-over after SIGKILL and SIGSTOP, all side by side');
  const rounds = [
    ...takingPart('kill').map((one) => losses('kill', 'SIGKILL', one, places.of(one))),
    ...takingPart('stop').map((one) => losses('stop', 'SIGSTOP', one, places.of(one))),
  ];
  return [...figures, ...(await Promise.all(rounds))];
}

async function releases(one, place) {
  const result = { contender: one.id, measure: 'release' };
  await attempt(one, result, async () => {
    const [first, second] = await Promise.all([Holder.start(one, place), Holder.start(one, place)]);
    try {
      for (const holder of [first, second]) {
        holder.send({ warm: WARM_UP });
        await expected(holder, 'warm');
      }
      Object.assign(
        result,
        summary(await toAndFro(first, second, SLOW.includes(one.who) ? PAUSE_MS.slow : PAUSE_MS.fast)),
      );
    } finally {
      await Promise.all([first.end(), second.end()]);
    }
  });
  return result;
}

async function toAndFro(first, second, pauseMs) {
  const waits = [];
  let [holder, waiter] = [first, second];
  holder.send({ lock: 'baton', ttlMs: 30_000 });
  await expected(holder, 'heldAt');
  for (let round = 0; round < RELEASES; round += 1) {
    waiter.send({ lock: 'baton', ttlMs: 30_000 });
    await expected(waiter, 'asked');
    await delay(20 + Math.random() * pauseMs);
    holder.send({ release: true });
    const { releasedAt } = await expected(holder, 'releasedAt');
    const { heldAt } = await expected(waiter, 'heldAt');
    waits.push(heldAt - releasedAt);
    [holder, waiter] = [waiter, holder];
  }
  return waits;
}

async function losses(measure, signal, one, place) {
  const result = { contender: one.id, measure };
  await attempt(one, result, async () => {
    const waits = [];
    const waiter = await Holder.start(one, place);
    try {
      for (let round = 0; round < LOSSES; round += 1)
        waits.push(await loseOne(`${measure}/${round}`, signal, one, place, waiter, round));
    } finally {
      await waiter.end();
    }
    Object.assign(result, summary(waits));
  });
  return result;
}

async function loseOne(name, signal, one, place, waiter, round) {
  const holder = await Holder.start(one, place);
  try {
    holder.send({ lock: name, ttlMs: TTL_MS });
    await expected(holder, 'heldAt');
    waiter.send({ lock: name, ttlMs: TTL_MS });
    await expected(waiter, 'asked');
    await delay(300 + ((round + Math.random()) * TTL_MS) / LOSSES); // any moment of its renewals
    const lostAt = Number(process.hrtime.bigint()) / 1e6;
    holder.kill(signal);
    const held = await waiter.next('heldAt', PATIENCE_MS);
    if (held === undefined) return Infinity;
    waiter.send({ release: true });
    await expected(waiter, 'releasedAt');
    return held.heldAt - lostAt;
  } finally {
    await holder.end();
  }
}

async function expected(holder, kind) {
  const message = await holder.next(kind, LONGEST_WAIT_MS);
  if (message === undefined) throw new Error(`no ${kind} within ${LONGEST_WAIT_MS} ms`);
  return message;
}

/** Infinity stands for somebody who never got it; JSON has no such number, so that is counted apart. */
export function summary(waits) {
  const finite = waits.filter(Number.isFinite);
  const never = waits.length - finite.length;
  return {
    median: never * 2 > waits.length ? null : median(waits),
    worst: never > 0 ? null : Math.max(...waits),
    never,
    rounds: waits.length,
  };
}
