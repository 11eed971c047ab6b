// holdfast revoke (C5): shows what it is about to end and whether the holder looks alive, asks when one does, ends it, and
// with --next says who took over.
import type { Command } from 'commander';
import { parseDuration } from '../../domain/duration.js';
import { LIMITS } from '../../domain/limits.js';
import type { LeaseRecord } from '../../index.js';
import { canAsk, typed } from '../confirm.js';
import type { Context } from '../context.js';
import { safe } from '../escape.js';
import { CommandError, EXIT, usage } from '../exit-codes.js';
import { examples } from '../help.js';
import { leaseTable } from '../lease-table.js';
import { signsOfLife, type LeaseView } from '../lease-view.js';
import { withQueue } from '../listing.js';
import { nextHolder } from '../next-holder.js';
import { tell } from '../output.js';
import { carryOut, targetOf, type RevokeTarget, type TargetFlags } from '../revoke-target.js';
import { broken } from '../table.js';
import { ago, span } from '../times.js';

interface RevokeFlags extends TargetFlags {
  reason: string;
  yes?: boolean;
  ifSilent?: string;
  keepOut?: string;
  next?: string;
}

export function define(command: Command, context: Context): void {
  command
    .argument('[resource]', 'end the leases on exactly this name; those who wait keep their places')
    .option('--under <name>', 'this name and everything below it, tickets too')
    .option('--lease <id>', 'the lease or ticket with this id')
    .option('--owner <id>', 'everything of this owner, tickets too')
    .requiredOption('--reason <text>', 'why: it is written down, and the holder is told')
    .option('--yes', 'do not ask, even when the holder looks alive')
    .option('--if-silent <duration>', 'only what was not renewed for this long')
    .option('--keep-out <duration>', 'bar the old owner, and only it, for this long')
    .option('--next <duration>', 'wait this long for somebody to take over, and say who')
    .action((resource: string | undefined, flags: RevokeFlags) => revoke(context, resource, flags));
  examples(command, [
    ['holdfast revoke deploy --reason "host is gone"', 'its holder; asks if it looks alive'],
    ['holdfast revoke deploy --reason stuck --if-silent 2m --yes', 'only if it has been silent'],
    ['holdfast revoke deploy --reason stuck --next 30s', 'and say who took over'],
    ['holdfast revoke --owner ci-7 --reason "runner lost" --yes', 'everything ci-7 holds or waits for'],
  ]);
}

async function revoke(context: Context, resource: string | undefined, flags: RevokeFlags): Promise<void> {
  const nextMs = flags.next === undefined ? undefined : durationOf(flags.next, '--next', LIMITS.waitMs);
  const keepOut = flags.keepOut === undefined ? undefined : durationOf(flags.keepOut, '--keep-out', LIMITS.keepOutMs);
  const leases = await context.open();
  const target = silentPart(await targetOf(leases, resource, flags), flags);
  if (nextMs !== undefined && target.resource === undefined) throw usage('--next needs a RESOURCE or a --lease');
  if (!context.isJson) show(context, target);
  await confirm(context, target, flags);
  const { reason } = flags;
  const ended = await carryOut(leases, target.orders, { reason, ...(keepOut === undefined ? {} : { keepOut }) });
  const wanted = { resource: target.resource ?? '', aboveEpoch: target.highestEpoch, withinMs: nextMs ?? 0 };
  const next = nextMs === undefined ? undefined : await nextHolder(leases, context.clock, wanted, context.interrupt());
  report(context, target, ended, nextMs, next);
}

/** What has been silent for long enough, ended by its ids. */
function silentPart(target: RevokeTarget, { ifSilent }: RevokeFlags): RevokeTarget {
  if (ifSilent === undefined) return target;
  const ms = durationOf(ifSilent, '--if-silent', LIMITS.maxHoldMs);
  const held = target.views.filter(({ record }) => record.status === 'active');
  const views = held.filter(({ silentMs }) => silentMs >= ms);
  const [first] = held;
  if (first && views.length === 0) {
    const last = `${first.record.owner} renewed ${ago(first.silentMs)} ago`;
    throw new CommandError(EXIT.refused, `nothing was revoked: ${last}, not silent for ${ifSilent}`);
  }
  return { ...target, views, orders: views.map(({ record }) => ({ leaseId: record.id })) };
}

function durationOf(text: string, name: string, maxMs: number): number {
  return parseDuration(text, { name, minMs: 0, maxMs });
}

function show({ output }: Context, { views, none, queueLength, resource }: RevokeTarget): void {
  if (views.length === 0) return tell(none);
  for (const line of leaseTable(views, output)) output.line(line);
  for (const view of views.slice(0, 20)) {
    const text = view.mode === 'waiting' ? `${view.owner} waits` : `${view.owner} ${signsOfLife(view)}`;
    for (const line of broken(text, output.width, '', '  ')) output.line(line);
  }
  if (resource !== undefined) output.line(waiting(queueLength));
}

function waiting(count: number): string {
  return count === 0 ? 'nobody waits for it' : count === 1 ? '1 waits for it' : `${count} wait for it`;
}

async function confirm(context: Context, { name, views }: RevokeTarget, { yes }: RevokeFlags): Promise<void> {
  const alive = views.filter(({ isSilent }) => !isSilent);
  const [first] = alive;
  if (!first || yes === true) return;
  const more = alive.length > 1 ? ` and ${alive.length - 1} more look alive` : ' looks alive';
  if (!canAsk()) {
    throw new CommandError(EXIT.refused, `nothing was revoked: ${first.record.owner}${more}; add --yes if you mean it`);
  }
  const question = `${first.record.owner}${more}. Type ${name} to revoke:`;
  if (!(await typed(name, question, context.interrupt()))) {
    throw new CommandError(EXIT.refused, `nothing was revoked: ${name} was not typed`);
  }
}

function report(
  context: Context,
  { name, views }: RevokeTarget,
  ended: readonly LeaseRecord[],
  nextMs: number | undefined,
  next: LeaseRecord | undefined,
): void {
  const { output, isJson } = context;
  const shown = views.map((view: LeaseView) => withQueue(view));
  if (isJson) output.json({ revoked: ended, shown, ...(nextMs === undefined ? {} : { next: next ?? null }) });
  else {
    for (const { parts, owner, epoch, status } of ended) {
      const names = parts.map((part) => safe(part.name)).join(', ');
      const what = epoch === 0 && status === 'revoked' ? `the wait of ${safe(owner)} for ${names}` : '';
      output.line(`revoked ${what === '' ? `${names} from ${safe(owner)}, epoch ${epoch}` : what}`);
    }
    if (ended.length === 0 && views.length > 0) output.line('it was over before it could be revoked');
    if (next) output.line(`taken over by ${safe(next.owner)}, epoch ${next.epoch}`);
  }
  if (nextMs !== undefined && !next) {
    throw new CommandError(EXIT.refused, `nobody took ${name} over within ${span(nextMs)}; it is free`);
  }
}
