// holdfast migrate (C7): brings the store's schema up to date, making the store where there is none; or says what it would do.
import type { Command } from 'commander';
import { LeaseError } from '../../domain/errors.js';
import type { Context } from '../context.js';
import { examples } from '../help.js';

export function define(command: Command, context: Context): void {
  command.option('--dry-run', 'only say what is to be done').action(async ({ dryRun }: { dryRun?: boolean }) => {
    const pending = await pendingIn(context);
    if (dryRun !== true) {
      await context.close();
      await context.open();
    }
    const isDry = dryRun === true;
    if (context.isJson) context.output.json({ ...(isDry ? { pending } : { applied: pending }) });
    else if (pending.length === 0) context.output.line('the store is up to date');
    else context.output.line(`${isDry ? 'to be applied' : 'applied'}: ${pending.join(', ')}`);
  });
  examples(command, [
    ['holdfast migrate', 'make the store, or bring it up to date'],
    ['holdfast migrate --dry-run', 'what would be done; changes nothing'],
  ]);
}

/** Found by looking: a store that lacks something says what. */
async function pendingIn(context: Context): Promise<readonly string[]> {
  try {
    await context.look();
    return [];
  } catch (error) {
    if (!(error instanceof LeaseError)) throw error;
    const { pending, missing, stale } = error.details as { pending?: string[]; missing?: boolean; stale?: boolean };
    if (pending) return pending;
    if (missing === true) return ['a new store'];
    if (stale === true) return [];
    throw error;
  }
}
