// holdfast ls (C4): who holds what, as a table that fits, or with --watch as one that lives.
import { Option, type Command } from 'commander';
import type { Filter } from '../../index.js';
import type { Context } from '../context.js';
import { examples } from '../help.js';
import { leaseTable } from '../lease-table.js';
import type { LeaseView } from '../lease-view.js';
import { listing, withQueue, type Listing } from '../listing.js';
import { tell } from '../output.js';

export interface LsFlags {
  owner?: string;
  status: 'active' | 'pending' | 'all';
  olderThan?: string;
  sort: keyof typeof ORDERS;
  watch?: boolean;
}

const ORDERS = {
  resource: () => 0, // as the store answers
  owner: (a: LeaseView, b: LeaseView) => compare(a.record.owner, b.record.owner),
  age: (a: LeaseView, b: LeaseView) => b.ageMs - a.ageMs,
  renewed: (a: LeaseView, b: LeaseView) => b.silentMs - a.silentMs,
  left: (a: LeaseView, b: LeaseView) => a.leftMs - b.leftMs,
  epoch: (a: LeaseView, b: LeaseView) => a.record.epoch - b.record.epoch,
  queue: (a: LeaseView, b: LeaseView) => b.queueLength - a.queueLength,
};

export function define(command: Command, context: Context): void {
  command
    .argument('[prefix]', 'this name and everything below it')
    .option('--owner <id>', 'of this owner only')
    .addOption(
      new Option('--status <status>', 'leases, tickets or both')
        .choices(['active', 'pending', 'all'])
        .default('active'),
    )
    .option('--older-than <duration>', 'held (or waiting) for at least this long')
    .addOption(new Option('--sort <by>', 'in which order').choices(Object.keys(ORDERS)).default('resource'))
    .option('--watch', 'go on, and show every change')
    .action(async (prefix: string | undefined, flags: LsFlags) => {
      if (flags.watch === true) {
        const { watchTable } = await import('../watch-table.js');
        await watchTable(context, prefix, () => look(context, prefix, flags));
        return;
      }
      print(context, await look(context, prefix, flags), prefix);
    });
  examples(command, [
    ['holdfast ls', 'every lease'],
    ['holdfast ls orders', 'orders and what is below it'],
    ['holdfast ls --status all --sort queue', 'tickets too, the most wanted first'],
    ['holdfast ls --older-than 1h --sort age', 'what has been held for long'],
    ['holdfast ls --watch', 'a table that follows every change; ^C ends it'],
    ['holdfast ls --json', 'for programs'],
  ]);
}

async function look(context: Context, prefix: string | undefined, flags: LsFlags): Promise<Listing> {
  const filter: Filter = {
    ...(prefix === undefined ? {} : { prefix }),
    ...(flags.owner === undefined ? {} : { owner: flags.owner }),
    ...(flags.status === 'all' ? {} : { status: flags.status }),
    ...(flags.olderThan === undefined ? {} : { olderThan: flags.olderThan }),
  };
  const found = await listing(await context.look(), filter);
  return { ...found, views: found.views.toSorted(ORDERS[flags.sort]) };
}

function print({ output, isJson }: Context, { storeNow, views, isCut }: Listing, prefix: string | undefined): void {
  if (isCut) tell(`only the first ${views.length} are shown: name a prefix, an owner or --older-than`);
  if (isJson) {
    output.json({ storeNow, items: views.map(withQueue) });
    return;
  }
  if (views.length === 0) tell(`nothing to show${prefix === undefined ? '' : ` at or below ${prefix}`}`);
  else for (const line of leaseTable(views, output)) output.line(line);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
