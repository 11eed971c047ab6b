// Faults on real processes and servers (`make faults`): a crowd at work, and one misfortune after the other.
//
// Who works. Eight processes with the library as it ships, on twenty names. Each takes a lease, reads the counter of that name
// behind the guard of its store, thinks, and writes it back raised by one behind the guard, together with a record under an id of
// its own. What it tries it says before, and how it ended after: done, refused by the guard, or unknown.
//
// What befalls them. Every 1 to 3 s one of the table in misfortunes.ts. Kinds come from a bag that is shuffled when it is empty,
// so that each comes up; moments, victims and measures are drawn from the seed too. The same seed draws the same misfortunes;
// what they meet is the machine's, so a failure is likely to come again, not certain.
//
// What must be true at the end, after everything has healed:
//   1. The guarded counter lost nothing (verdict.ts): what was confirmed is there, what was refused is not, the unknown is decided
//      by its record. The same story without the guard loses one (twin.ts), so the test can tell.
//   2. No two held one name at one instant, and whatever else the checkers of histories say about the store's log (check-log.ts).
//   3. Every worker makes progress.
//   4. What was there before is there after, no more and no less: the handles and descriptors of every worker, quiet before and
//      after, and before it connected and after it shut down; descriptors and connections of the server; tickets, lease rows,
//      files. Only a quiet crowd may have more idle connections than before, as many as its pools may hold. What was told to
//      close takes a while, so the second look is repeated for a bounded time.
//   5. Nothing went unhandled in any worker, and none ended that nobody killed (S12).
// Each is a sentence in `complaints` when it is not so. Everything runs on free ports and in a folder of its own.
import { setTimeout as delay } from 'node:timers/promises';
import { inspect } from 'node:util';
import { readHistory } from '../../../src/testing/store-conformance/history-records.js';
import { Random } from '../../simulation/random.js';
import { checkLog } from './check-log.js';
import { prepareGrounds } from './grounds.js';
import { begin, kindsAt, type Kind, type Victims } from './misfortunes.js';
import { postgresSite } from './postgres-site.js';
import { redisSite } from './redis-site.js';
import { presentCommit, sentenceOf, type Report } from './report.js';
import { serverSite } from './server-site.js';
import type { Counts, Site, SiteName } from './site.js';
import { sqliteSite } from './sqlite-site.js';
import { tellTwinStory } from './twin.js';
import { judge } from './verdict.js';
import { Worker } from './worker.js';

const WORKERS = 8;
const RESOURCES = 20;
const TTL_MS = 2_000;
const WAIT_MS = 5_000;
/** Counters beside those of the crowd. */
const GUARDED_TWIN = RESOURCES;
const UNGUARDED_TWIN = RESOURCES + 1;
/** Increments each must make after everything has healed. */
const PROGRESS = 3;
const PATIENCE_MS = 60_000;
const LOOK_MS = 250;
const STEADY_MS = 1_500;
const STEADY_AT_MOST_MS = 10_000;
const DISK_MEGABYTES = 4_096;
const SHOWN = 20;

const OPEN: Record<SiteName, (grounds: Site['grounds'], slots: number) => Promise<Site>> = {
  sqlite: sqliteSite,
  postgres: postgresSite,
  redis: redisSite,
  server: serverSite,
};

export interface CrowdOrder {
  readonly store: SiteName;
  readonly seed: number;
  readonly seconds: number;
}

export async function runCrowd(order: CrowdOrder): Promise<Report> {
  const grounds = prepareGrounds(DISK_MEGABYTES);
  try {
    const site = await OPEN[order.store](grounds, WORKERS);
    try {
      return await new Crowd(site, order).run();
    } finally {
      await site.remove();
    }
  } finally {
    grounds.remove();
  }
}

class Crowd {
  readonly #site: Site;
  readonly #order: CrowdOrder;
  readonly #random: Random;
  readonly #complaints: string[] = [];
  readonly #happened: Partial<Record<Kind, number>> = {};
  /** All there ever were; those who work now by slot. */
  readonly #everybody: Worker[] = [];
  readonly #present: Worker[] = [];
  readonly #phases: Record<string, number> = {};
  #lane: Promise<void> = Promise.resolve();

  constructor(site: Site, order: CrowdOrder) {
    this.#site = site;
    this.#order = order;
    this.#random = new Random(order.seed);
  }

  async run(): Promise<Report> {
    try {
      const lostUnguarded = await this.#timed('twins', () => this.#tellTwins());
      await this.#site.warm?.();
      const before = await this.#timed('before', () => steady(() => this.#empty()));
      for (let slot = 0; slot < WORKERS; slot += 1) this.#hire(slot);
      await this.#timed('start', () => this.#progress('at the start'));
      const quiet = await this.#timed('pause', () => steady(() => this.#quiet()));
      this.#tellAll('resume');
      await this.#timed('misfortunes', () => this.#misfortunes());
      await this.#timed('recovery', () => this.#progress('after everything has healed'));
      await this.#timed('quiet', () =>
        this.#settle(
          'a quiet crowd',
          () => this.#quiet(),
          (now) => excess(this.#mostOf(before, quiet), now),
        ),
      );
      await this.#timed('shutdown', () => this.#dismiss());
      await this.#site.warm?.();
      const compare = (now: Counts): string[] => differences(before, now);
      const after = await this.#timed('empty', () => this.#settle('an empty site', () => this.#empty(), compare));
      return await this.#report({ lostUnguarded, before, after });
    } finally {
      for (const worker of this.#everybody) worker.signal('SIGKILL');
      await Promise.all(this.#everybody.map((worker) => worker.ended));
    }
  }

  async #timed<T>(phase: string, todo: () => Promise<T>): Promise<T> {
    const from = performance.now();
    try {
      return await todo();
    } finally {
      this.#phases[phase] = Math.round(performance.now() - from);
    }
  }

  async #tellTwins(): Promise<number> {
    const story = { site: this.#site, ttl: TTL_MS };
    const [guarded, unguarded] = await Promise.all([
      tellTwinStory({ ...story, n: GUARDED_TWIN, guarded: true }),
      tellTwinStory({ ...story, n: UNGUARDED_TWIN, guarded: false }),
    ]);
    const { records, values } = await this.#site.readCounters();
    const lostOf = (n: number): number => records.filter((record) => record.n === n).length - (values.get(n) ?? 0);
    if (!/^refused (STALE_EPOCH|LEASE_LOST)$/.test(guarded)) this.#complain(`the late guarded write ${guarded}`);
    if (lostOf(GUARDED_TWIN) !== 0) this.#complain(`the guarded twin lost ${lostOf(GUARDED_TWIN)}`);
    if (lostOf(UNGUARDED_TWIN) < 1)
      this.#complain(`the unguarded twin ${unguarded} and lost nothing: nothing is shown`);
    return lostOf(UNGUARDED_TWIN);
  }

  #hire(slot: number): void {
    const number = this.#everybody.length;
    const [url, counters] = [this.#site.url(slot), this.#site.counters(slot)];
    const drill = { rounds: 0, looks: 0, ...this.#site.drill };
    const options = this.#site.options ?? {};
    const content = { url, options, counters, drill, ttl: TTL_MS, wait: WAIT_MS, resources: RESOURCES };
    const worker = new Worker({
      slot,
      owner: `worker-${slot}-${number}`,
      env: this.#site.grounds.env('workers'),
      content,
    });
    this.#everybody.push(worker);
    this.#present[slot] = worker;
  }

  /** One after the other until the time is over; then what is still under way ends. */
  async #misfortunes(): Promise<void> {
    const kinds = kindsAt(this.#site);
    let bag: Kind[] = [];
    const underWay = new Set<Promise<void>>();
    const victims: Victims = {
      site: this.#site,
      slots: WORKERS,
      ttl: TTL_MS,
      random: this.#random,
      worker: (slot) => this.#present[slot]!,
      replace: (slot) => this.#hire(slot),
      inTurn: (todo) => (this.#lane = this.#lane.then(todo)),
    };
    const end = performance.now() + this.#order.seconds * 1_000;
    for (;;) {
      await delay(this.#random.between(1_000, 3_000));
      if (performance.now() > end) break;
      if (bag.length === 0) bag = this.#random.shuffled(kinds);
      const kind = bag.pop()!;
      this.#happened[kind] = (this.#happened[kind] ?? 0) + 1;
      const misfortune: Promise<void> = begin(kind, victims)
        .catch((error: unknown) => this.#complain(`${kind} was not taken back: ${inspect(error)}`))
        .finally(() => underWay.delete(misfortune));
      underWay.add(misfortune);
      this.#lookForDead();
    }
    await Promise.all(underWay);
  }

  async #progress(when: string): Promise<void> {
    const goals = this.#present.map((worker) => worker.done + PROGRESS);
    const late = (): Worker[] => this.#present.filter((worker, i) => worker.done < goals[i]!);
    await waitFor(() => late().length === 0 || this.#lookForDead());
    for (const worker of late()) {
      this.#complain(`${worker.owner} made no progress ${when}; it said last: ${worker.tail.slice(-8).join(' | ')}`);
    }
  }

  /** Handles and descriptors of every worker, connections and all the rest, while everybody pauses. */
  async #quiet(): Promise<Counts> {
    this.#tellAll('pause');
    if (!(await waitFor(() => this.#present.every((worker) => worker.isPaused) || this.#lookForDead()))) {
      this.#complain('not everybody paused when told to');
    }
    const counts: Counts = { ...(await this.#empty()) };
    for (const worker of this.#present) {
      if (worker.isOver) continue;
      for (const [what, count] of Object.entries(await worker.counts()))
        counts[`worker ${worker.slot}: ${what}`] = count;
    }
    return counts;
  }

  /** What a quiet crowd may have: what it had, but pools may be as full as they are allowed to be, beside what an empty site has. */
  #mostOf(empty: Counts, quiet: Counts): Counts {
    const most = this.#site.connectionsPerWorker;
    const limits = Object.entries(quiet).map(([name, count]) => {
      const limit = /: fd connection$/.test(name)
        ? most
        : /^(connections|server sessions|server fd socket)$/.test(name)
          ? (empty[name] ?? 0) + most * WORKERS
          : 0;
      return [name, Math.max(count, limit)] as const;
    });
    return Object.fromEntries(limits);
  }

  /** What is at the site, and what stands in the store. */
  async #empty(): Promise<Counts> {
    const store = await this.#site.openStore();
    const standing = { tickets: 0, leases: 0 };
    try {
      const { items } = await store.list({ limit: 1_000 });
      for (const { status } of items) standing[status === 'pending' ? 'tickets' : 'leases'] += 1;
    } finally {
      await store.close();
    }
    return { ...standing, ...(await this.#site.counts()) };
  }

  /** Looks again until it is as before, for a bounded time; the rest is a complaint. */
  async #settle(what: string, look: () => Promise<Counts>, compare: (after: Counts) => string[]): Promise<Counts> {
    let after = await look();
    for (const end = performance.now() + PATIENCE_MS; performance.now() < end; after = await look()) {
      if (compare(after).length === 0) break;
      await delay(LOOK_MS);
    }
    for (const difference of compare(after)) this.#complain(`${what} has ${difference}`);
    return after;
  }

  /** Everybody goes home in good order, and leaves nothing open. */
  async #dismiss(): Promise<void> {
    this.#tellAll('stop');
    await waitFor(() => this.#present.every((worker) => worker.isOver));
    for (const { owner, bye, isOver, tail } of this.#present) {
      if (!isOver || bye === undefined)
        this.#complain(`${owner} did not end when told to: ${tail.slice(-5).join(' | ')}`);
      for (const difference of bye ? excess(bye.before, bye.after) : []) {
        this.#complain(`${owner} after its shutdown has ${difference}`);
      }
    }
  }

  async #report(found: Pick<Report, 'lostUnguarded' | 'before' | 'after'>): Promise<Report> {
    const store = await this.#site.openStore();
    const history = { ...(await readHistory(store)), records: [] };
    await store.close();
    for (const complaint of checkLog(history, this.#site.isMonotonic)) this.#complain(complaint);
    const { records, values } = await this.#site.readCounters();
    const verdict = judge(
      this.#everybody.flatMap(({ attempts }) => [...attempts.values()]),
      {
        records: records.filter(({ n }) => n < RESOURCES),
        values: new Map([...values].filter(([n]) => n < RESOURCES)),
      },
    );
    for (const complaint of verdict.complaints) this.#complain(complaint);
    for (const { unseen } of this.#everybody) for (const line of unseen) this.#complain(`S12: ${line}`);
    const { confirmed, refused, unknownLanded, unknownNot, lost } = verdict;
    const report = {
      kind: 'faults' as const,
      ...this.#order,
      commit: presentCommit(),
      workers: WORKERS,
      resources: RESOURCES,
      misfortunes: this.#happened,
      leftOut: this.#site.grounds.leftOut,
      grants: history.log.filter(({ type }) => type === 'lease.acquired').length,
      increments: { confirmed, refused, unknownLanded, unknownNot },
      lost,
      ...found,
      phasesMs: this.#phases,
      complaints: this.#complaints.slice(0, SHOWN),
    };
    return { ...report, sentence: sentenceOf(report) };
  }

  /** Whoever ended and was not killed; true when there is one, for then there is nothing to wait for. */
  #lookForDead(): boolean {
    const dead = this.#present.filter(({ isOver, isKilled }) => isOver && !isKilled);
    for (const worker of dead) {
      worker.isKilled = true;
      this.#complain(`${worker.owner} ended by itself; it said last: ${worker.tail.slice(-5).join(' | ')}`);
      this.#hire(worker.slot);
    }
    return dead.length > 0;
  }

  #tellAll(order: 'pause' | 'resume' | 'stop'): void {
    for (const worker of this.#present) worker.tell(order);
  }

  #complain(sentence: string): void {
    this.#complaints.push(sentence);
  }
}

/** Timers and requests come and go with what is due next. */
const FLEETING = /handle (Timeout|Immediate|\w*Req\w*)$/;

/** Sentences like `3 of connections, 2 before`. */
export function differences(before: Counts, after: Counts): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(after)].filter((name) => !FLEETING.test(name)));
  return [...names]
    .filter((name) => (before[name] ?? 0) !== (after[name] ?? 0))
    .map((name) => `${after[name] ?? 0} of ${name}, ${before[name] ?? 0} before`);
}

/** Where there is more than before. */
export function excess(before: Counts, after: Counts): string[] {
  const more = Object.entries(after).filter(([name, count]) => count > (before[name] ?? 0));
  return differences(before, { ...before, ...Object.fromEntries(more) });
}

/** Looks until nothing has changed for a while: idle connections have been given up by then. */
async function steady(look: () => Promise<Counts>): Promise<Counts> {
  let [counts, since] = [await look(), performance.now()];
  for (const end = since + STEADY_AT_MOST_MS; performance.now() < end && performance.now() < since + STEADY_MS;) {
    await delay(LOOK_MS);
    const next = await look();
    if (differences(counts, next).length > 0) [counts, since] = [next, performance.now()];
  }
  return counts;
}

async function waitFor(isSo: () => boolean): Promise<boolean> {
  const end = performance.now() + PATIENCE_MS;
  while (!isSo()) {
    if (performance.now() > end) return false;
    await delay(50);
  }
  return true;
}
