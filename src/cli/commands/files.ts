// holdfast files (C6): leases on files and folders for whoever is no Node program: editors, scripts, agents. Several paths
// are one lease, all or nothing; a refusal names each path, its holder and until when, one line each.
import type { Command } from 'commander';
import { LeaseError } from '../../domain/errors.js';
import type { Holdfast, LeaseRecord } from '../../index.js';
import type { Context } from '../context.js';
import { safe } from '../escape.js';
import { CommandError, EXIT, usage } from '../exit-codes.js';
import { fromHere, rootDirectory } from '../file-root-dir.js';
import { handOver } from '../hand-over.js';
import { examples } from '../help.js';
import { leaseTable } from '../lease-table.js';
import { leaseView, queueLengths } from '../lease-view.js';
import { acquireOptionsOf, addWaitOptions, type LeaseFlags } from '../lease-options.js';
import { tell } from '../output.js';

interface FileFlags extends LeaseFlags {
  root?: string;
  name?: string;
  section?: string;
  all?: boolean;
}

type Files = ReturnType<Holdfast['files']>;

export function define(command: Command, context: Context): void {
  const inner = (name: string, summary: string): Command =>
    command
      .command(name)
      .summary(summary)
      .description(`${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`)
      .option('--root <dir>', 'the tree (the nearest folder above with a .git, else the working directory)')
      .option('--name <name>', 'what the tree is called, so that two checkouts agree (its real path)');
  const acquiring = inner('acquire', 'lease files and folders, all of them or none')
    .argument('<path...>', 'a folder means everything in it; what does not exist yet can be leased too')
    .option('--section <name>', 'only this part of the one file')
    .option('--ttl <duration>', 'how long it lives without `holdfast renew` (1h)');
  addWaitOptions(acquiring)
    .option('--shared', 'to read: together with others who only read')
    .action((paths: string[], flags: FileFlags) => acquire(context, paths, flags));
  inner('release', 'give back what --owner has on a path')
    .argument('[path...]', 'a lease on several paths ends as a whole')
    .option('--all', 'everything that --owner has in the tree')
    .action((paths: string[], flags: FileFlags) => release(context, paths, flags));
  inner('ls', 'who holds what in the tree')
    .argument('[path]', 'only what touches this path')
    .action((path: string | undefined, flags: FileFlags) => list(context, path, flags));
  examples(command, [
    ['holdfast files acquire src/a.ts src/b.ts', 'both files, or neither'],
    ['holdfast files acquire src/lib --no-wait', 'the folder and all that is in it'],
    ['holdfast files acquire README.md --section install', 'a part of a file'],
    ['holdfast files ls src', 'who is working there'],
    ['holdfast files release --all', 'when the work is done'],
  ]);
}

async function acquire(context: Context, paths: string[], flags: FileFlags): Promise<void> {
  const options = { ...acquireOptionsOf(flags), renew: 'manual' as const, signal: context.interrupt() };
  const files = filesOf(await context.open(), flags);
  const wanted = paths.map(fromHere);
  const [first = ''] = wanted;
  if (flags.section !== undefined && wanted.length > 1) throw usage('--section is a part of one file: name one path');
  const what = flags.section === undefined ? wanted : await files.section(first, flags.section);
  try {
    const lease = await files.acquire(what, options);
    const places = await files.places(lease.toJSON());
    await handOver(context, lease, places.map(shown), { places });
  } catch (error) {
    throw refused(context, error);
  }
}

/** Each conflict on a line of its own, then what to do. */
function refused({ isJson, output }: Context, error: unknown): unknown {
  if (!(error instanceof LeaseError) || error.details['refusal'] === undefined) return error;
  if (isJson) output.json({ refusal: error.details['refusal'] });
  const [, ...conflicts] = error.message.split('\n');
  for (const line of conflicts) tell(line);
  return new CommandError(
    EXIT.refused,
    'nothing was acquired: wait with --wait 5m, or work on something else meanwhile',
  );
}

async function release(context: Context, paths: string[], flags: FileFlags): Promise<void> {
  if ((paths.length === 0) !== (flags.all === true)) throw usage('name the paths to release, or say --all');
  const leases = await context.open();
  const files = filesOf(leases, flags);
  const found = new Map<string, LeaseRecord>();
  for (const path of flags.all === true ? ['.'] : paths.map(fromHere)) {
    const own = (await files.who(path)).filter(({ owner }) => owner === leases.owner);
    const here = flags.all === true ? own : await exactly(files, own, path);
    if (here.length === 0 && flags.all !== true) throw notHeld(leases.owner, path);
    for (const record of here) found.set(record.id, record);
  }
  const ended = [...found.values()];
  const answers = await leases.release(ended.map(({ id, epoch }) => ({ id, epoch })));
  const items = await Promise.all(
    ended.map(async (record, i) => ({
      id: record.id,
      epoch: record.epoch,
      places: await files.places(record),
      outcome: answers[i]?.outcome ?? 'unknown',
    })),
  );
  if (context.isJson) context.output.json({ items });
  else for (const { places, outcome } of items) context.output.line(`${outcome} ${places.map(shown).join(', ')}`);
  if (items.length === 0) tell(`${leases.owner} has nothing in ${rootDirectory(flags.root)}`);
}

/** The owner's leases on this very path, or a section of it: a lease on the folder above is not meant. */
async function exactly(files: Files, own: readonly LeaseRecord[], path: string): Promise<LeaseRecord[]> {
  const names = (await files.parts(path)).map(({ name }) => name);
  return own.filter(({ parts }) =>
    parts.some(({ name }) => names.some((one) => name === one || name.startsWith(`${one}/#`))),
  );
}

function notHeld(owner: string, path: string): LeaseError {
  const text = `${owner} has no lease on ${path}: see \`holdfast files ls\`; is --owner right?`;
  return new LeaseError('NOT_HELD', text);
}

async function list(context: Context, path: string | undefined, flags: FileFlags): Promise<void> {
  const leases = await context.look();
  const files = filesOf(leases, flags);
  const records = await files.who(path === undefined ? '.' : fromHere(path));
  const lengths = queueLengths(await leases.waitGraph());
  const { storeNow } = await leases.now();
  const rows = await Promise.all(records.map(async (record) => ({ record, places: await files.places(record) })));
  const { output } = context;
  if (context.isJson) {
    output.json({
      storeNow,
      root: rootDirectory(flags.root),
      items: rows.map(({ record, places }) => ({ ...record, places })),
    });
    return;
  }
  const views = rows.flatMap(({ record, places }) =>
    places.map((place) => ({
      ...leaseView(record, storeNow, lengths.get(record.id) ?? 0),
      name: shown(place),
      mode: place.mode,
    })),
  );
  const sorted = views.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  if (sorted.length === 0) tell(`nobody holds anything in ${path ?? rootDirectory(flags.root)}`);
  else for (const line of leaseTable(sorted, output, 'PATH')) output.line(line);
}

function filesOf(leases: Holdfast, { root, name }: FileFlags): Files {
  return leases.files(rootDirectory(root), name === undefined ? {} : { name });
}

function shown({ path, section }: { path: string; section?: string }): string {
  return section === undefined ? safe(path) : `${safe(path)} (section ${safe(section)})`;
}
