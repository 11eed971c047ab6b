// holdfast seq (C8): streams of numbers, for whoever keeps them running: what is open, which gaps there are, who reads and
// how far behind, what waits for a person, and recovery by hand.
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { LeaseError } from '../../domain/errors.js';
import type { ManualItem, StreamFigures } from '../../domain/sequence.js';
import type { Holdfast } from '../../index.js';
import type { Context } from '../context.js';
import { safe } from '../escape.js';
import { usage } from '../exit-codes.js';
import { examples } from '../help.js';
import { wholeNumber } from '../lease-options.js';
import { tell } from '../output.js';
import { gapTable, manualTable, readerLines, streamLines, streamTable } from '../stream-table.js';

const PAGE = 1_000;
/** More streams than anybody reads; beyond it the command says that there are more. */
const MOST_STREAMS = 10_000;
const MOST_RUNS = 1_000;

export function define(command: Command, context: Context): void {
  const inner = (under: Command, name: string, summary: string): Command =>
    under
      .command(name)
      .summary(summary)
      .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`);
  inner(command, 'ls', 'every stream with its figures').action(() => list(context));
  inner(command, 'show', 'one stream: what is open, gaps, readers')
    .argument('<stream>')
    .action((stream: string) => show(context, stream));
  inner(command, 'gaps', 'numbers that were given up, and why')
    .argument('<stream>')
    .option('--after <n>', 'only those after this number', wholeNumber, 0)
    .action((stream: string, { after }: { after: number }) => gaps(context, stream, after));
  inner(command, 'fill', 'store the operation of a gap, at its number or, when it was shown, at a new one')
    .argument('<stream>')
    .argument('<number>', 'a number of the gap', wholeNumber)
    .argument('<operation-id>', 'the operation the number was leased for')
    .argument('[json]', 'the operation; without it, standard input')
    .action((stream: string, number: number, operationId: string, json: string | undefined) =>
      fill(context, stream, number, operationId, json),
    );
  inner(command, 'readers', 'who reads a stream, and how far behind')
    .argument('<stream>')
    .option('--forget <name>', 'this reader is gone: it keeps nothing from being trimmed')
    .action((stream: string, { forget }: { forget?: string }) => readers(context, stream, forget));
  inner(command, 'trim', 'remove operations that every reader is done with')
    .argument('<stream>')
    .requiredOption('--before <n>', 'those of numbers below this one', wholeNumber)
    .action((stream: string, { before }: { before: number }) => trim(context, stream, before));
  inner(command, 'recover', 'settle what has expired, now')
    .argument('[stream]', 'without it: every stream')
    .action((stream: string | undefined) => recover(context, stream));
  const manual = inner(command, 'manual', 'what recovery could not settle by itself');
  inner(manual, 'ls', 'what waits for a person')
    .argument('[stream]', 'without it: every stream')
    .action((stream: string | undefined) => manualList(context, stream));
  inner(manual, 'retry', 'try again: a kept result is stored at once')
    .argument('<stream>')
    .argument('<operation-id>')
    .action((stream: string, operationId: string) => manualRetry(context, stream, operationId));
  inner(manual, 'discard', 'give it up: its number stays a gap')
    .argument('<stream>')
    .argument('<operation-id>')
    .action((stream: string, operationId: string) => manualDiscard(context, stream, operationId));
  examples(command, [
    ['holdfast seq ls', 'every stream: open numbers, watermark, gaps, readers'],
    ['holdfast seq show orders', 'what keeps orders from going on'],
    ['holdfast seq gaps orders', 'which numbers were given up, and why'],
    ['holdfast seq trim orders --before 100000', 'what every reader is done with'],
    ['holdfast seq manual ls', 'what a person has to look at'],
  ]);
}

async function allStreams(leases: Holdfast): Promise<StreamFigures[]> {
  const found: StreamFigures[] = [];
  for (let more = true; more && found.length < MOST_STREAMS;) {
    const after = found.at(-1)?.name;
    const page = await leases.streams({ limit: PAGE, ...(after === undefined ? {} : { after }) });
    found.push(...page.items);
    more = page.more && page.items.length > 0; // without a last name there is nothing to go on from
  }
  return found;
}

async function oneStream(leases: Holdfast, name: string): Promise<StreamFigures> {
  const figures = await leases.sequence(name).figures();
  if (figures) return figures;
  throw new LeaseError('NOT_HELD', `there is no stream ${name} in ${leases.namespace}: see \`holdfast seq ls\``);
}

async function list(context: Context): Promise<void> {
  const leases = await context.look();
  const streams = await allStreams(leases);
  const now = Date.parse((await leases.now()).storeNow);
  if (context.isJson) context.output.json({ items: streams });
  else if (streams.length > 0) for (const line of streamTable(streams, context.output, now)) context.output.line(line);
  if (streams.length === 0) tell(`there is no stream in ${leases.namespace}`);
}

async function show(context: Context, name: string): Promise<void> {
  const leases = await context.look();
  const stream = await oneStream(leases, name);
  const now = Date.parse((await leases.now()).storeNow);
  if (context.isJson) context.output.json(stream);
  else for (const line of streamLines(stream, now)) context.output.line(line);
}

async function gaps(context: Context, name: string, after: number): Promise<void> {
  const leases = await context.look();
  await oneStream(leases, name);
  const items = await leases.sequence(name).gaps.list({ after });
  if (context.isJson) context.output.json({ items });
  else if (items.length > 0) for (const line of gapTable(items, context.output)) context.output.line(line);
  if (items.length === 0) tell(`${name} has no gap${after > 0 ? ` after ${after}` : ''}`);
  if (items.length === PAGE) tell(`there may be more: --after ${items.at(-1)?.number ?? 0}`);
}

async function fill(
  context: Context,
  name: string,
  number: number,
  operationId: string,
  json: string | undefined,
): Promise<void> {
  const operation = parsed(json ?? readFileSync(0, 'utf8'));
  const leases = await context.open();
  const stored = await leases.sequence(name).gaps.fill(number, operationId, operation);
  if (context.isJson) context.output.json(stored);
  else if (stored.number === number) context.output.line(`filled ${number} of ${safe(name)}`);
  else context.output.line(`gap ${number} of ${safe(name)} was shown already: stored as ${stored.number}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw usage('the operation is JSON: text needs its quotes, such as \'"done"\'');
  }
}

async function readers(context: Context, name: string, forget: string | undefined): Promise<void> {
  const leases = await (forget === undefined ? context.look() : context.open());
  const before = await oneStream(leases, name);
  if (forget !== undefined) {
    if (!before.readers.some((reader) => reader.name === forget))
      throw new LeaseError('NOT_HELD', `${name} has no reader ${forget}: see \`holdfast seq readers ${name}\``);
    await leases.sequence(name).reader(forget).forget();
  }
  const stream = forget === undefined ? before : await oneStream(leases, name);
  if (context.isJson) context.output.json({ items: stream.readers });
  else for (const line of readerLines(stream)) context.output.line(line.trimStart());
  if (stream.readers.length === 0) tell(`${name} has no reader`);
}

async function trim(context: Context, name: string, before: number): Promise<void> {
  const leases = await context.open();
  await oneStream(leases, name);
  const removed = await leases.sequence(name).trim(before);
  const { trimmedBefore } = await oneStream(leases, name);
  if (context.isJson) context.output.json({ removed, trimmedBefore });
  else context.output.line(`removed ${removed} operations of ${safe(name)}; it begins at ${trimmedBefore}`);
  if (trimmedBefore < before)
    tell(`numbers from ${trimmedBefore} on are still to be read, or have not been shown to anybody`);
}

async function recover(context: Context, name: string | undefined): Promise<void> {
  const leases = await context.open();
  const names =
    name === undefined
      ? (await allStreams(leases)).map((stream) => stream.name)
      : [(await oneStream(leases, name)).name];
  let [settled, failed] = [0, 0];
  for (const one of names) {
    const { recovery } = leases.sequence(one);
    for (let [run, more] = [0, true]; more && run < MOST_RUNS; run += 1) {
      const done = await recovery.run();
      settled += done.settled;
      failed += done.failed;
      ({ more } = done);
    }
  }
  if (context.isJson) context.output.json({ settled, failed });
  else
    context.output.line(
      `${settled} settled${failed > 0 ? `, ${failed} failed: see \`holdfast history --type recovery.failed\`` : ''}`,
    );
}

async function manualList(context: Context, name: string | undefined): Promise<void> {
  const leases = await context.look();
  const names =
    name === undefined
      ? (await allStreams(leases)).filter((stream) => stream.manual > 0).map((stream) => stream.name)
      : [name];
  const items: ManualItem[] = [];
  for (const one of names) items.push(...(await leases.sequence(one).recovery.manual.list()));
  if (context.isJson) context.output.json({ items });
  else if (items.length > 0) for (const line of manualTable(items, context.output)) context.output.line(line);
  if (items.length === 0) tell('nothing waits for a person');
}

async function manualRetry(context: Context, name: string, operationId: string): Promise<void> {
  const answer = await (await context.open()).sequence(name).recovery.manual.retry(operationId);
  if (context.isJson) context.output.json(answer);
  else if (answer.outcome === 'stored') context.output.line(`stored as ${answer.number ?? ''} of ${safe(name)}`);
  else context.output.line('queued: the next recoverer that can rebuild it does');
}

async function manualDiscard(context: Context, name: string, operationId: string): Promise<void> {
  await (await context.open()).sequence(name).recovery.manual.discard(operationId);
  if (context.isJson) context.output.json({ discarded: operationId });
  else context.output.line(`discarded ${safe(operationId)} of ${safe(name)}: its number stays a gap`);
}
