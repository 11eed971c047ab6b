// The page in a real Chromium, with 10,000 leases and 500 changes a second: rows in the DOM, the longest task, memory, and frames
// against an empty page. The two pages take turns in one browser while the changes go on, so that both have what the machine leaves.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openHttp } from '../dist/stores/http/index.js';
import { openSqlite } from '../dist/stores/sqlite/index.js';
import { launchChromium } from '../scripts/chromium.mjs';
import { collect, median, row, shown } from './measure.mjs';
import { clock, Port } from './port.mjs';

const STORE = 'page';
const LEASES = 10_000;
/** Every lease that is taken and released is two changes. */
const CHANGES_PER_SECOND = 500;
const HELD_MS = 2_000;
const ROUNDS = 4;
const WINDOW_MS = 5_000;
const MIB = 1_048_576;
const FILLED = /^(9,9\d\d|1\d,\d{3}) held$/;
/** Counted from the very first script of the page. */
const WATCH = `{
  globalThis.watched = { frames: 0, longest: 0 };
  const frame = () => { watched.frames += 1; requestAnimationFrame(frame); };
  requestAnimationFrame(frame);
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) watched.longest = Math.max(watched.longest, duration);
  }).observe({ type: 'longtask', buffered: true });
}`;

export async function benchPage(say) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-page-'));
  const { rows, add } = collect(say);
  const url = `sqlite:${join(folder, 'page')}.db`;
  let [child, browser] = [undefined, undefined];
  try {
    say(`${LEASES} leases, ${CHANGES_PER_SECOND} changes a second`);
    await fill(url);
    child = fork(fileURLToPath(new URL('server-child.mjs', import.meta.url)), ['serve', url]);
    const [{ port }] = await once(child, 'message');
    browser = await launchChromium();
    add(await measured(browser, `http://127.0.0.1:${port}`));
    return rows;
  } finally {
    await browser?.close();
    child?.disconnect();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function fill(url) {
  const store = await openSqlite(url, { clock });
  await (await Port.over(store)).fill(LEASES);
  await store.close();
}

async function measured(browser, url) {
  const changes = new Changes(url);
  await changes.start();
  const [ours, empty] = [[], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await look(browser, `${url}/now`));
    empty.push(await look(browser, 'about:blank'));
  }
  const taskCpuMs = await longestCpuMs(browser, `${url}/now`);
  const perSecond = await changes.stop();
  const most = (looks, key) => Math.max(...looks.map((one) => one[key]));
  const [frames, emptyFrames] = [ours, empty].map((looks) => median(looks.map((one) => one.framesPerSecond)));
  const common = { store: STORE, concurrency: LEASES, baseline: null, baselineName: '', atMost: true };
  const longest = most(ours, 'longestMs');
  const heap = most(ours, 'heapMiB');
  const rowCount = most(ours, 'rows');
  return [
    row({ ...common, name: 'rows in the DOM', ours: rowCount, unit: 'rows', ratio: rowCount, target: 199 }),
    row({ ...common, name: 'longest task, loading included', ours: longest, unit: 'ms', ratio: longest, target: 200 }),
    row({
      ...common,
      name: 'JavaScript heap in use (JSHeapUsedSize), largest',
      ours: heap,
      unit: 'MiB',
      ratio: heap,
      target: 200,
    }),
    row({
      ...common,
      name: 'frames',
      ours: frames,
      baseline: emptyFrames,
      baselineName: 'empty page',
      unit: 'frames/s',
      ratio: frames / emptyFrames,
      target: null,
      atMost: false,
    }),
    shown({
      ...common,
      name: 'longest task: while changes arrive; its processor time; of an empty page; changes',
      figures: [most(ours, 'longestLaterMs'), taskCpuMs, most(empty, 'longestMs'), Math.round(perSecond)],
      unit: 'ms; ms; ms; /s',
    }),
  ];
}

/** Leases that come and go at a steady pace, in sight at the top of the list. */
class Changes {
  #url;
  #store;
  #port;
  #isOver = false;
  #failed;
  #running;
  #changed = 0;
  #begin = 0;

  constructor(url) {
    this.#url = url;
  }

  async start() {
    this.#store = await openHttp(this.#url, { clock });
    this.#port = await Port.over(this.#store);
    this.#begin = performance.now();
    this.#running = this.#run();
  }

  /** How many there were a second. */
  async stop() {
    this.#isOver = true;
    await this.#running;
    const seconds = (performance.now() - this.#begin) / 1_000;
    await this.#store.close();
    if (this.#failed) throw this.#failed;
    return this.#changed / seconds;
  }

  async #run() {
    const under = new Set();
    for (let begun = 0; !this.#isOver && !this.#failed; await delay(10)) {
      const due = ((performance.now() - this.#begin) / 1_000) * (CHANGES_PER_SECOND / 2);
      for (; begun < due; begun += 1) {
        const one = this.#comeAndGo(`active/${begun}`)
          .catch((error) => (this.#failed ??= error))
          .finally(() => under.delete(one));
        under.add(one);
      }
    }
    await Promise.all(under);
  }

  async #comeAndGo(name) {
    const { result, now } = await this.#port.batching.acquire(this.#port.request(name));
    this.#port.now = now;
    if (result.outcome !== 'granted') throw new Error(`${name}: ${result.outcome}`);
    this.#changed += 1;
    await delay(HELD_MS);
    const { id, epoch } = result.lease;
    await this.#port.batching.end({ id, epoch, requestId: `page-${name}`, why: 'released' });
    this.#changed += 1;
  }
}

/** One page for a while, in a tab of its own. */
async function look(browser, address) {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
  try {
    await context.addInitScript(WATCH);
    const page = await context.newPage();
    const session = await context.newCDPSession(page);
    await session.send('Performance.enable');
    await page.goto(address);
    const isOurs = address !== 'about:blank';
    if (isOurs) await page.getByText(FILLED).waitFor({ timeout: 60_000 });
    const before = await page.evaluate('({ ...watched, at: performance.now() })');
    await page.evaluate('void (watched.longest = 0)');
    const seen = { heapMiB: 0, rows: 0 };
    const end = performance.now() + WINDOW_MS;
    while (performance.now() < end) {
      await delay(500);
      seen.heapMiB = Math.max(seen.heapMiB, await heapOf(session));
      seen.rows = Math.max(seen.rows, await page.evaluate(`document.querySelectorAll('[role=row], tr').length`));
    }
    const after = await page.evaluate('({ ...watched, at: performance.now() })');
    return {
      ...seen,
      framesPerSecond: ((after.frames - before.frames) / (after.at - before.at)) * 1_000,
      longestMs: Math.max(before.longest, after.longest),
      longestLaterMs: after.longest,
    };
  } finally {
    await context.close();
  }
}

/** The same again, traced: how much of the processor the longest task had. On a machine with other work to do the time on the
 *  clock says more about that work than about the page. */
async function longestCpuMs(browser, address) {
  const context = await browser.newContext({ viewport: { width: 1_280, height: 800 } });
  try {
    const page = await context.newPage();
    await browser.startTracing(page, { categories: ['toplevel', 'devtools.timeline'] });
    await page.goto(address);
    await page.getByText(FILLED).waitFor({ timeout: 60_000 });
    await delay(WINDOW_MS);
    const { traceEvents } = JSON.parse((await browser.stopTracing()).toString());
    const threads = traceEvents.filter(({ name, args }) => name === 'thread_name' && args.name === 'CrRendererMain');
    const mains = new Set(threads.map(({ pid, tid }) => `${pid} ${tid}`));
    const tasks = traceEvents.filter(({ name, pid, tid }) => name.endsWith('RunTask') && mains.has(`${pid} ${tid}`));
    return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
  } finally {
    await context.close();
  }
}

/** Without asking for a collection first: what is in use is what the page costs. */
async function heapOf(session) {
  const { metrics } = await session.send('Performance.getMetrics');
  return (metrics.find(({ name }) => name === 'JSHeapUsedSize')?.value ?? 0) / MIB;
}
