// A lease that outlives the command is its caller's once it has been printed (C3, C6). One whose id nobody has seen would only
// be in the way until it expires: where standard output cannot be written, or nobody reads it, it is given back. All is written at once: a
// reader that takes one line of it and leaves (`| head -1`) was there.
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
    const facts = [
      `acquired ${names.join(', ')}`,
      `  id      ${record.id}`,
      `  epoch   ${record.epoch}`,
      `  owner   ${safe(record.owner)}`,
      `  until   ${utc(record.expiresAt)} (${span(record.ttlMs)})`,
    ];
    output.line(facts.join('\n'));
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
