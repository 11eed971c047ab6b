// holdfast renew (C3): a lease taken with `acquire` lives on from now. Never revives one that is over (S4).
import type { Command } from 'commander';
import { LeaseError, type LeaseErrorCode } from '../../domain/errors.js';
import type { Context } from '../context.js';
import { safe } from '../escape.js';
import { endedAlready, findLease } from '../find-lease.js';
import { examples } from '../help.js';
import { wholeNumber } from '../lease-options.js';
import { utc } from '../times.js';

const WHY: Readonly<Record<string, string>> = {
  NOT_HELD: 'is over; acquire it again',
  STALE_EPOCH: 'has another epoch by now; somebody else took it over',
  MAX_RENEWALS: 'was renewed as often as it may be; release it and acquire it again',
  MAX_HOLD: 'was held as long as it may be; release it and acquire it again',
};

export function define(command: Command, context: Context): void {
  command
    .argument('<lease>', 'its id, or a resource that --owner holds')
    .option('--ttl <duration>', 'live this long from now, instead of the ttl it has')
    .option('--epoch <n>', 'only if this is its epoch', wholeNumber)
    .action(async (wanted: string, { ttl, epoch }: { ttl?: string; epoch?: number }) => {
      const leases = await context.open();
      const record = await findLease(leases, wanted);
      if (record.status !== 'active') throw endedAlready(record);
      const authority = { id: record.id, epoch: epoch ?? record.epoch, ...(ttl === undefined ? {} : { ttl }) };
      const [answer] = await leases.renew([authority]);
      const name = record.parts[0]?.name ?? record.id;
      if (!answer?.ok) {
        const code = answer?.code ?? 'NOT_HELD';
        throw new LeaseError(code as LeaseErrorCode, `the lease on ${name} ${WHY[code] ?? WHY['NOT_HELD'] ?? ''}`);
      }
      const { ok: _, ...renewed } = answer;
      if (context.isJson) context.output.json({ id: record.id, epoch: authority.epoch, ...renewed });
      else context.output.line(`renewed ${safe(name)}, epoch ${record.epoch}, until ${utc(renewed.expiresAt)}`);
    });
  examples(command, [
    ['holdfast renew deploy', 'the lease that user@host has on deploy'],
    ['holdfast renew deploy --ttl 2h', 'two hours from now'],
    ['holdfast --owner ci-7 renew deploy', 'the lease of ci-7'],
  ]);
}
