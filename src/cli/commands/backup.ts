// holdfast backup (C7): a copy of the store, taken while others write. Never over a file that is there.
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Context } from '../context.js';
import { safe } from '../escape.js';
import { examples } from '../help.js';

export function define(command: Command, context: Context): void {
  command.argument('<file>', 'a new file').action(async (file: string) => {
    const path = resolve(file);
    await (await context.look()).backup(path);
    if (context.isJson) context.output.json({ backup: path });
    else context.output.line(`backed up into ${safe(path)}`);
  });
  examples(command, [
    ['holdfast backup leases-monday.db', 'a copy, while others go on'],
    ['holdfast restore leases-monday.db', 'and back'],
  ]);
}
