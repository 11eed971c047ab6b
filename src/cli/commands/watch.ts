// holdfast watch (C4): the log as it grows, one event a line, until it is told to end or nobody reads it any more.
import type { Command } from 'commander';
import type { WatchFilter } from '../../index.js';
import type { Context } from '../context.js';
import { eventLine } from '../event-lines.js';
import { examples } from '../help.js';
import { typeOf } from '../event-types.js';

interface WatchFlags {
  owner?: string;
  type?: string;
  after?: string;
}

export function define(command: Command, context: Context): void {
  command
    .argument('[prefix]', 'this name and everything below it')
    .option('--owner <id>', 'of this owner only')
    .option('--type <type>', 'only such events: lease.acquired, or acquired')
    .option('--after <id>', 'go on after this event (its id in --json), instead of from now on')
    .action(async (prefix: string | undefined, { owner, type, after }: WatchFlags) => {
      const { output } = context;
      const filter: WatchFilter = {
        ...(prefix === undefined ? {} : { prefix }),
        ...(owner === undefined ? {} : { owner }),
        ...(type === undefined ? {} : { type: typeOf(type) }),
        ...(after === undefined ? {} : { after }),
        signal: context.interrupt(),
      };
      const leases = await context.look();
      for await (const event of leases.watch(filter)) {
        if (context.isJson) output.json(event);
        else output.line(eventLine(event));
      }
    });
  examples(command, [
    ['holdfast watch', 'everything that happens from now on'],
    ['holdfast watch orders --type acquired', 'who gets what below orders'],
    ['holdfast watch --json | jq -r .sentence', 'one JSON document a line'],
  ]);
}
