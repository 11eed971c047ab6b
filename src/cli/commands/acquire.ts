// holdfast acquire (C3): a lease that outlives the command. Nobody renews it but `holdfast renew`; it ends with
// `holdfast release`, by its ttl, or by a revocation.
import type { Command } from 'commander';
import { LeaseError } from '../../domain/errors.js';
import type { Refusal } from '../../index.js';
import type { Context } from '../context.js';
import { safe } from '../escape.js';
import { handOver } from '../hand-over.js';
import { examples } from '../help.js';
import { acquireOptionsOf, addLeaseOptions, type LeaseFlags } from '../lease-options.js';

export function define(command: Command, context: Context): void {
  command.argument('<resource...>', 'what to lease: all of them together, or none');
  addLeaseOptions(command).action(async (resources: string[], flags: LeaseFlags) => {
    const options = { ...acquireOptionsOf(flags), renew: 'manual' as const, signal: context.interrupt() };
    const leases = await context.open();
    try {
      const lease = await leases.acquire(resources, options);
      await handOver(context, lease, lease.resources.map(safe));
    } catch (error) {
      const refusal = refusalOf(error);
      if (refusal && context.isJson) context.output.json({ refusal });
      throw error;
    }
  });
  examples(command, [
    ['holdfast acquire deploy', 'for an hour, waiting up to 30s'],
    ['holdfast acquire deploy --ttl 10m --no-wait', 'now or never'],
    ['holdfast acquire db/a db/b --wait 5m', 'both together'],
    ['holdfast acquire pool --shared --limit 3', 'one of three places'],
    ['holdfast acquire deploy --json', 'id, epoch and the rest for programs'],
  ]);
}

function refusalOf(error: unknown): Refusal | undefined {
  return error instanceof LeaseError ? (error.details['refusal'] as Refusal | undefined) : undefined;
}
