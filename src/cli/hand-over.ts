// A lease that outlives the command is its caller's once it has been printed (C3, C6). One whose id nobody has seen would only
// be in the way until it expires: where standard output cannot be written, or nobody reads it, it is given back.
import type { HeldLease } from '../index.js';
import type { Context } from './context.js';
import { safe } from './escape.js';
import { CommandError, EXIT } from './exit-codes.js';
import { cannotBeWritten } from './output.js';
import { span, utc } from './times.js';

/** `names`: what was acquired, in words that are safe to print; `more`: what the JSON document has beside the record. */
export async function handOver(
  { output, isJson }: Context,
  lease: HeldLease,
  names: readonly string[],
  more: object = {},
): Promise<void> {
  const record = lease.toJSON();
  if (isJson) output.json({ ...record, ...more });
  else {
    output.line(`acquired ${names.join(', ')}`);
    output.line(`  id      ${record.id}`);
    output.line(`  epoch   ${record.epoch}`);
    output.line(`  owner   ${safe(record.owner)}`);
    output.line(`  until   ${utc(record.expiresAt)} (${span(record.ttlMs)})`);
  }
  await output.flush();
  if (!output.gone.aborted) {
    lease.abandon(); // it is not given back when this command ends
    return;
  }
  const { outcome } = await lease.release();
  const fate = outcome === 'unknown' ? `${record.id} stays until ${utc(record.expiresAt)}` : 'the lease was given back';
  const why = output.trouble ? cannotBeWritten(output.trouble) : 'nobody reads standard output';
  throw new CommandError(EXIT.output, `${why}: ${fate}`);
}
