// holdfast show (C4): one resource: who holds it, who waits and in which order, and what happened last.
import type { Command } from 'commander';
import type { ResourceView } from '../../index.js';
import type { Context } from '../context.js';
import { safe } from '../escape.js';
import { eventLines } from '../event-lines.js';
import { examples } from '../help.js';
import { leaseView, partName, signsOfLife, type LeaseView } from '../lease-view.js';
import { broken } from '../table.js';
import { span, utc } from '../times.js';

const MOST_QUEUED = 50;
const MOST_EVENTS = 10;
const OUTSIDE = 'outside what this token may see';

export function define(command: Command, context: Context): void {
  command.argument('<resource>', 'the name to look at').action(async (resource: string) => {
    const leases = await context.look();
    const view = await leases.show(resource);
    const { storeNow } = await leases.now();
    if (context.isJson) context.output.json({ resource, storeNow, ...view });
    else for (const line of describe(context, resource, view, storeNow)) context.output.line(line);
  });
  examples(command, [
    ['holdfast show deploy', 'holder, queue, last events'],
    ['holdfast show deploy --json', 'the same for programs'],
  ]);
}

function* describe({ output }: Context, resource: string, view: ResourceView, storeNow: string): Generator<string> {
  const say = (text: string, indent = 2): string[] =>
    broken(text, output.width, ' '.repeat(indent), ' '.repeat(indent + 2));
  yield output.paint('bold', safe(resource));
  const holders = view.holders.map((record) => leaseView(record, storeNow, 0));
  const [heldOutside, waitOutside] = [view.holderCount - holders.length, view.queueLength - view.queue.length];
  if (view.holderCount === 0) {
    const blocked = `free in ${span(view.blockedMs)}: kept out by minHold or lockDelay`;
    yield* say(view.blockedMs > 0 ? blocked : 'held by nobody');
  }
  for (const holder of holders) for (const text of facts(holder)) yield* say(text);
  if (heldOutside > 0) yield* say(`held ${OUTSIDE} (${heldOutside})`);
  yield* say(view.queueLength === 0 ? 'nobody waits' : `${view.queueLength} waiting:`);
  for (const [i, ticket] of view.queue.slice(0, MOST_QUEUED).entries()) {
    const waiter = leaseView(ticket, storeNow, i);
    yield* say(`${waiter.queue} ${waiter.owner}, for ${waiter.age}, id ${ticket.id}`, 4);
  }
  if (view.queue.length > MOST_QUEUED) yield* say(`and ${view.queue.length - MOST_QUEUED} more`, 4);
  if (waitOutside > 0) yield* say(`${OUTSIDE}: ${waitOutside}`, 4);
  if (view.history.length === 0) return;
  yield* say('last events:');
  for (const event of view.history.slice(0, MOST_EVENTS).reverse()) {
    for (const line of eventLines(event, output.width - 4)) yield `    ${line}`;
  }
}

function facts(view: LeaseView): string[] {
  const { record } = view;
  return [
    `held by ${view.owner} (${view.mode}), epoch ${view.epoch}`,
    `since ${view.since} (${view.age}), until ${utc(record.expiresAt)} (${view.left} left)`,
    signsOfLife(view),
    `id ${record.id}`,
    ...(record.parts.length > 1 ? [`together with ${record.parts.map(partName).join(', ')}`] : []),
    ...(record.parts.some(({ scope }) => scope === 'subtree') && record.parts.length === 1
      ? [`as part of ${record.parts.map(partName).join(', ')}`]
      : []),
    ...(record.metadata === undefined ? [] : [`metadata ${safe(JSON.stringify(record.metadata))}`]),
  ];
}
