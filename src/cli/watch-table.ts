// The live table of `ls --watch`. Driven by the log: every event makes it look again, a few times a second at most. On a
// terminal it redraws in place and counts down each second; on a pipe it prints a new table, under its time, whenever
// something happened; with --json one document a line. It ends with ^C, or when nobody reads it any more.
import type { Context } from './context.js';
import { cut } from './escape.js';
import { leaseTable } from './lease-table.js';
import { withQueue, type Listing } from './listing.js';
import { tell } from './output.js';
import { utc } from './times.js';

/** At most this often, however much happens. */
const LEAST_PAUSE_MS = 100;
const TICK_MS = 1_000;
const ENTER = '\u001b[?1049h\u001b[?25l';
const LEAVE = '\u001b[?25h\u001b[?1049l';

export async function watchTable(
  context: Context,
  prefix: string | undefined,
  look: () => Promise<Listing>,
): Promise<void> {
  const { output, clock, isJson } = context;
  const end = context.interrupt();
  const isLive = output.isTerminal && !isJson;
  const changes = new Changes();
  const follower = follow(context, changes, end);
  const ring = (): void => changes.ring();
  process.stdout.on('resize', ring);
  end.addEventListener('abort', ring);
  let last: string | undefined;
  if (isLive) output.write(ENTER);
  try {
    while (!end.aborted) {
      changes.quiet();
      const listing = await look();
      if (isLive) output.write(screen(context, listing, prefix));
      else if (last !== factsOf(listing)) {
        if (isJson) output.json({ storeNow: listing.storeNow, items: listing.views.map(withQueue) });
        else output.write(page(context, listing));
      }
      last = factsOf(listing);
      await pause(LEAST_PAUSE_MS);
      await changes.next((ring) => (isLive || changes.isBlind ? clock.after(TICK_MS, ring, true) : undefined));
    }
  } finally {
    if (isLive) output.write(LEAVE);
    process.stdout.off('resize', ring);
    changes.end();
    await follower;
  }

  function pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      if (end.aborted) resolve();
      else clock.after(ms, resolve, true);
    });
  }
}

/** Rings for every event. Without a log there is nothing to follow: then the table looks every second. */
async function follow(context: Context, changes: Changes, end: AbortSignal): Promise<void> {
  try {
    const leases = await context.look();
    const signal = AbortSignal.any([end, changes.over]);
    for await (const _ of leases.watch({ signal })) changes.ring();
  } catch (error) {
    if (end.aborted) return;
    changes.isBlind = true;
    changes.ring();
    tell(`${error instanceof Error ? error.message : String(error)}; looking every second instead`);
  }
}

/** What a new table on a pipe would tell; a renewal alone is no news. */
function factsOf({ views }: Listing): string {
  return JSON.stringify(views.map(({ record, queue }) => [record.id, record.epoch, record.status, queue]));
}

function page({ output }: Context, { storeNow, views }: Listing): string {
  const lines = views.length === 0 ? ['nothing to show'] : leaseTable(views, output);
  return `${[utc(storeNow), ...lines, ''].join('\n')}\n`;
}

/** Over what was there before, line by line: nothing flickers. */
function screen({ output }: Context, { storeNow, views }: Listing, prefix: string | undefined): string {
  const where = prefix === undefined ? '' : ` at or below ${prefix}`;
  const title = cut(`${views.length} held${where}, ${utc(storeNow)}, ^C ends`, output.width);
  const lines = [output.paint('dim', title), ...(views.length === 0 ? [] : leaseTable(views, output))];
  const room = Math.max(2, output.height - 1);
  const shown = lines.length > room ? [...lines.slice(0, room - 1), `… ${lines.length - room + 1} more lines`] : lines;
  return `\u001b[H${shown.map((line) => `${line}\u001b[K\n`).join('')}\u001b[J`;
}

/** Something happened, or it is time to look again. A ring between two waits is not missed. */
class Changes {
  readonly #over = new AbortController();
  #hasRung = false;
  #wake: (() => void) | undefined;
  isBlind = false;

  get over(): AbortSignal {
    return this.#over.signal;
  }
  ring(): void {
    this.#hasRung = true;
    this.#wake?.();
  }
  quiet(): void {
    this.#hasRung = false;
  }
  end(): void {
    this.#over.abort();
  }
  async next(timer: (ring: () => void) => { cancel(): void } | undefined): Promise<void> {
    const ring = (): void => this.ring();
    const handle = timer(ring);
    await new Promise<void>((resolve) => {
      if (this.#hasRung) resolve();
      else this.#wake = resolve;
    });
    this.#wake = undefined;
    handle?.cancel();
  }
}
