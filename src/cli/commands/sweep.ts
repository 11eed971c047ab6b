// holdfast sweep (C7): writes down what has expired. Nothing waits for it: expired is free from the moment it expires (S3).
import type { Command } from 'commander';
import type { Context } from '../context.js';
import { examples } from '../help.js';
import { span } from '../times.js';

export function define(command: Command, context: Context): void {
  command.action(async () => {
    const { expired, overrunMaxMs } = await (await context.open()).sweep();
    if (context.isJson) context.output.json({ expired, overrunMaxMs });
    else {
      const late = expired === 0 ? '' : `, the longest ago ${span(overrunMaxMs)}`;
      context.output.line(`${expired} expired ${expired === 1 ? 'lease' : 'leases'} written down${late}`);
    }
  });
  examples(command, [['holdfast sweep', 'for the sake of the history']]);
}
