// holdfast bench (C10): a quick figure for this store, from this machine, now. It works in a place of its own (a file beside
// the store, a schema, a namespace) and removes it, also when it is interrupted: then it prints what it has.
import type { Command } from 'commander';
import { parseDuration } from '../../domain/duration.js';
import type { Holdfast } from '../../holdfast.js';
import type { ScratchStore } from '../../stores/scratch-store.js';
import { CASES, measure, type Figures } from '../bench-cases.js';
import type { Context } from '../context.js';
import { examples } from '../help.js';
import { tell, type Output } from '../output.js';
import { broken, fitted, type Column } from '../table.js';

const LONGEST_MS = 60_000;

export function define(command: Command, context: Context): void {
  command
    .option('--for <duration>', 'how long each of the six cases takes', '1s')
    .action((flags: { for: string }) => bench(context, flags.for));
  examples(command, [
    ['holdfast bench', 'about ten seconds: 1, 32 and 256 clients, apart and on one name, hand-over'],
    ['holdfast --store redis://127.0.0.1:6379 bench --json', 'another store, for programs'],
  ]);
}

async function bench(context: Context, text: string): Promise<void> {
  const forMs = parseDuration(text, { name: '--for', minMs: 10, maxMs: LONGEST_MS });
  const signal = context.interrupt();
  const { value: url } = await context.store();
  const { scratchStore } = await import('../../stores/scratch-store.js');
  const scratch = await scratchStore(url, context.clock);
  const all: Figures[] = [];
  let durability: string;
  try {
    const [leases, others] = [await connected(context, scratch), await connected(context, scratch)];
    ({ durability } = leases);
    for (const [i, one] of CASES.entries()) {
      if (signal.aborted) break;
      progress(context, `${i + 1} of ${CASES.length}: ${one.name}, ${one.clients} clients`);
      const figures = await measure(
        { clock: context.clock, leases: leases.holdfast, others: others.holdfast, forMs, signal },
        one,
      );
      if (!signal.aborted) all.push(figures);
    }
    for (const { holdfast } of [leases, others]) await holdfast.shutdown();
  } finally {
    progress(context, '');
    await scratch.remove();
  }
  report(context, scratch, durability, all);
}

async function connected(context: Context, scratch: ScratchStore): Promise<{ holdfast: Holdfast; durability: string }> {
  const { connect } = await import('../../connect.js');
  const store = await scratch.open();
  const { capabilities } = await store.info();
  const holdfast = await connect(store, { services: 'off', clock: context.clock });
  return { holdfast, durability: capabilities.durability };
}

/** One line on a terminal, over the last. */
function progress({ isJson }: Context, text: string): void {
  if (process.stderr.isTTY && !isJson) process.stderr.write(`\r\u001b[K${text}`);
}

function report(context: Context, { place }: ScratchStore, durability: string, cases: readonly Figures[]): void {
  const { output, isJson } = context;
  const isWhole = cases.length === CASES.length;
  if (isJson) output.json({ place, durability, isWhole, cases });
  else if (cases.length > 0) {
    for (const line of tableOf(cases, output)) output.line(line);
    const notes = [
      'own names, one name: until it is given back; hand-over: from the release to the next holder',
      `measured in ${place}, which is gone; one process, two connections; ${durability}`,
    ];
    for (const note of notes) for (const line of broken(note, output.width)) output.line(line);
  }
  if (!isWhole) tell(`interrupted after ${cases.length} of ${CASES.length}: nothing was left behind`);
}

function tableOf(cases: readonly Figures[], output: Output): string[] {
  const figure = (title: string, of: (one: Figures) => number): Column<Figures> => ({
    title,
    isRight: true,
    of: (one) => of(one).toLocaleString('en-US', { maximumFractionDigits: 2 }),
  });
  const columns: Column<Figures>[] = [
    { title: 'ON', of: ({ name }) => name },
    figure('CLIENTS', ({ clients }) => clients),
    figure('A SECOND', ({ perSecond }) => perSecond),
    figure('P50 MS', ({ p50Ms }) => p50Ms),
    figure('P95 MS', ({ p95Ms }) => p95Ms),
    figure('P99 MS', ({ p99Ms }) => p99Ms),
    figure('MAX MS', ({ maxMs }) => maxMs),
  ];
  const words = (one: Figures): string[] => [
    `${one.name}, ${one.clients} clients`,
    `${one.perSecond} a second`,
    `p50 ${one.p50Ms} ms`,
    `p99 ${one.p99Ms} ms`,
  ];
  return fitted(cases, [{ columns }], words, output.width, (line) => output.paint('bold', line));
}
