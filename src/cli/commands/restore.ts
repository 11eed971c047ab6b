// holdfast restore (C7): a backup in the place of the store, when nobody else has the store open. The store that was there
// is kept beside it; a new incarnation begins, with every epoch above all that came before.
import type { Command } from 'commander';
import type { Context } from '../context.js';
import { safe } from '../escape.js';
import { CommandError, EXIT } from '../exit-codes.js';
import { examples } from '../help.js';

export function define(command: Command, context: Context): void {
  command.argument('<file>', 'a backup made with `holdfast backup`').action(async (file: string) => {
    const { value: url } = await context.store();
    const { defaultStoreUrl, restoreStore } = await import('../../stores/open-store.js');
    const restored = await restoreStore(context.isOwnStore ? defaultStoreUrl() : url, file, context.clock);
    if (restored.outcome === 'inUse') {
      throw new CommandError(EXIT.refused, `others have ${restored.path} open: stop them first; nothing was changed`);
    }
    const { path, incarnation, replaced } = restored;
    if (context.isJson) {
      context.output.json({ store: path, incarnation, replaced });
      return;
    }
    context.output.line(`restored ${safe(path)}`);
    context.output.line(`  incarnation  ${incarnation}`);
    if (replaced !== undefined) context.output.line(`  replaced     ${safe(replaced)}`);
  });
  examples(command, [
    ['holdfast restore leases-monday.db', "into the user's store"],
    ['holdfast --store sqlite:/srv/leases.db restore monday.db', 'into another'],
  ]);
}
