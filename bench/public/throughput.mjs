// Pairs per second and how long a pair takes, at 1, 32 and 256 callers of one process: each with a name of its own, and all of
// them waiting in line for one. With names of their own the contenders take turns in short windows, after each has run warm.
// In line each has one long window: a wait that began in it counts however long it took, so that nobody looks better by making
// somebody wait past the end; who was not served some seconds after the end is counted, with the wait so far.
import { setTimeout as delay } from 'node:timers/promises';
import { median, percentile } from '../measure.mjs';
import { scaled } from '../scale.mjs';
import { attempt } from './attempt.mjs';
import { takingPart } from './contenders.mjs';

const WARM_MS = scaled(150, 50);
const WINDOW_MS = scaled(250, 60);
const ROUNDS = scaled(3, 1);
const LINE_MS = scaled(1_200, 300);
const DRAIN_MS = scaled(2_000, 1_000);
/** One percentile in a thousand says nothing about fewer waits than that. */
const ENOUGH_FOR_P999 = 1_000;

export async function throughput(say, places) {
  const figures = [];
  for (const concurrency of [1, 32, 256]) {
    say(`public: names of their own, ${concurrency} at once`);
    figures.push(...(await uncontended(concurrency, places)));
  }
  for (const concurrency of [32, 256]) {
    say(`public: in line for one name, ${concurrency} at once`);
    figures.push(...(await contended(concurrency, places)));
  }
  return figures;
}

async function uncontended(concurrency, places) {
  const results = new Map();
  const isOpen = [];
  for (const one of takingPart('uncontended')) {
    const result = { windows: [], waits: [] };
    results.set(one, result);
    await attempt(one, result, async () => {
      const opened = await one.open(places.of(one));
      isOpen.push(opened);
      result.act = (caller) => opened.pair(caller);
      await play(WARM_MS, concurrency, result.act);
    });
  }
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [one, result] of results) {
      await attempt(one, result, async () => {
        const { perSecond, waits } = await play(WINDOW_MS, concurrency, result.act);
        result.windows.push(perSecond);
        for (const wait of waits) result.waits.push(wait);
      });
    }
  }
  for (const opened of isOpen) await opened.close();
  const common = { measure: 'uncontended', concurrency };
  return [...results].map(([one, { dash, windows, waits }]) => ({
    ...{ ...common, contender: one.id },
    ...(dash === undefined ? { perSecond: median(windows), ...percentiles(waits) } : { dash }),
  }));
}

/** Everybody wants the same name, has it for no time at all, and wants it again. */
async function contended(concurrency, places) {
  const figures = [];
  for (const one of takingPart('contended')) {
    const result = {};
    await attempt(one, result, async () => {
      const opened = await one.open(places.of(one));
      const act = async () => {
        const held = await opened.lock(`${one.id}/in-line`);
        await held.release();
      };
      await play(WARM_MS, 2, act);
      const { within, waits, served, unserved } = await play(LINE_MS, concurrency, act);
      Object.assign(result, { perSecond: (within / LINE_MS) * 1_000, ...percentiles(waits), served, unserved });
      await opened.close();
    });
    figures.push({ measure: 'contended', concurrency, contender: one.id, ...result });
  }
  return figures;
}

/**
 * Callers ask until the window is over. `perSecond` is all they did in the time it took until the last was done, which is what
 * counts where nobody waits for another; `within` is what was done in the window, `served` who had a turn in it.
 */
export async function play(windowMs, callers, act) {
  const waits = [];
  const begun = new Map();
  const served = new Set();
  let within = 0;
  let isOver = false;
  const start = performance.now();
  const until = start + windowMs;
  const caller = async (i) => {
    for (;;) {
      const began = performance.now();
      if (began >= until) return;
      begun.set(i, began);
      await act(i);
      if (isOver) return;
      const ended = performance.now();
      begun.delete(i);
      waits.push(ended - began);
      if (ended > until) return;
      within += 1;
      served.add(i);
    }
  };
  // What fails after everything is over is the closing of what it waited at.
  const all = Array.from({ length: callers }, (_, i) => caller(i).catch((error) => isOver || Promise.reject(error)));
  const ended = new AbortController();
  const patience = delay(windowMs + DRAIN_MS, undefined, { signal: ended.signal }).catch(() => undefined);
  await Promise.race([Promise.all(all), patience]);
  ended.abort();
  isOver = true;
  const perSecond = (waits.length / (performance.now() - start)) * 1_000;
  for (const began of begun.values()) waits.push(performance.now() - began);
  return { perSecond, within, waits, served: served.size, unserved: begun.size };
}

function percentiles(waits) {
  const sorted = Float64Array.from(waits).sort();
  return {
    p50: percentile(sorted, 0.5),
    p99: percentile(sorted, 0.99),
    p999: sorted.length >= ENOUGH_FOR_P999 ? percentile(sorted, 0.999) : null,
    longest: sorted.at(-1),
    samples: sorted.length,
  };
}
