// holdfast whoami (C7): which owner, namespace and store apply here, and where each comes from. Opens nothing.
import type { Command } from 'commander';
import { withoutSecrets } from '../../stores/open-store.js';
import type { Context } from '../context.js';
import { safe } from '../escape.js';
import { examples } from '../help.js';

export function define(command: Command, context: Context): void {
  command.action(async () => {
    const store = await context.store();
    const chosen = {
      owner: context.owner(),
      namespace: context.namespace(),
      store: { ...store, value: withoutSecrets(store.value) },
    };
    if (context.isJson) {
      context.output.json(chosen);
      return;
    }
    for (const [what, { value, from }] of Object.entries(chosen)) {
      context.output.line(`${what.padEnd(9)}  ${safe(value)}  (${from})`);
    }
  });
  examples(command, [
    ['holdfast whoami', 'owner, namespace and store'],
    ['HOLDFAST_OWNER=ci-7 holdfast whoami', 'as somebody else'],
  ]);
}
