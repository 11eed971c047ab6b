// holdfast release (C3): a lease taken with `acquire` is given back. Again is harmless; one that was lost meanwhile says so.
import type { Command } from 'commander';
import type { Context } from '../context.js';
import { safe } from '../escape.js';
import { CommandError, EXIT } from '../exit-codes.js';
import { endedAlready, findLease } from '../find-lease.js';
import { examples } from '../help.js';
import { wholeNumber } from '../lease-options.js';

export function define(command: Command, context: Context): void {
  command
    .argument('<lease>', 'its id, or a resource that --owner holds')
    .option('--epoch <n>', 'only if this is its epoch', wholeNumber)
    .action(async (wanted: string, { epoch }: { epoch?: number }) => {
      const leases = await context.open();
      const record = await findLease(leases, wanted);
      if (record.status !== 'active' && record.status !== 'released') throw endedAlready(record);
      const [answer] = await leases.release([{ id: record.id, epoch: epoch ?? record.epoch }]);
      const outcome = record.status === 'released' ? 'already_ended' : (answer?.outcome ?? 'unknown');
      if (context.isJson) context.output.json({ id: record.id, epoch: record.epoch, outcome });
      const name = record.parts[0]?.name ?? record.id;
      if (outcome === 'superseded' || outcome === 'unknown') {
        throw new CommandError(
          EXIT.lost,
          `${name} was not released: its epoch is ${record.epoch}, look at it with \`holdfast show ${name}\``,
        );
      }
      const text =
        record.status === 'released'
          ? `${safe(name)} was released before`
          : `released ${safe(name)}, epoch ${record.epoch}`;
      if (!context.isJson) context.output.line(text);
    });
  examples(command, [
    ['holdfast release deploy', 'the lease that user@host has on deploy'],
    ['holdfast release 0mib3w4a1Xr2…', 'by its id'],
    ['holdfast --owner ci-7 release deploy', 'the lease of ci-7'],
  ]);
}
