// holdfast history (C4): what happened, from the log of the namespace, oldest first and at most --limit of the newest.
import type { Command } from 'commander';
import type { Holdfast, HistoryQuery, LeaseEvent } from '../../index.js';
import { parseDuration } from '../../domain/duration.js';
import { LIMITS } from '../../domain/limits.js';
import type { Context } from '../context.js';
import { eventLines } from '../event-lines.js';
import { typeOf } from '../event-types.js';
import { usage } from '../exit-codes.js';
import { examples } from '../help.js';
import { wholeNumber } from '../lease-options.js';
import { tell } from '../output.js';
import { momentOf } from '../times.js';

interface HistoryFlags {
  under?: boolean;
  owner?: string;
  since?: string;
  until?: string;
  type?: string;
  limit: number;
}

const DEFAULT_LIMIT = 50;
const MOST = 10_000;
const PAGE = 1_000;

export function define(command: Command, context: Context): void {
  command
    .argument('[resource]', 'what happened to this name')
    .option('--under', 'and to everything below it')
    .option('--owner <id>', 'what this owner did')
    .option('--since <when>', 'from then on: 90m (ago), 2026-01-31, 2026-01-31T12:00:00Z')
    .option('--until <when>', 'before then')
    .option('--type <type>', 'only such events: lease.acquired, or acquired')
    .option('--limit <n>', `at most so many, the newest (${DEFAULT_LIMIT})`, wholeNumber, DEFAULT_LIMIT)
    .action(async (resource: string | undefined, flags: HistoryFlags) => {
      if (flags.limit < 1 || flags.limit > MOST) throw usage(`--limit is from 1 to ${MOST}, got ${flags.limit}`);
      const leases = await context.look();
      const query = queryOf(resource, flags, (await leases.now()).storeNow);
      const { items, hasMore } = await read(leases, query, flags.limit);
      const { output } = context;
      if (context.isJson) output.json({ items, hasMore });
      else for (const event of items) for (const line of eventLines(event, output.width)) output.line(line);
      if (items.length === 0) tell('nothing happened that matches');
    });
  examples(command, [
    ['holdfast history', `the last ${DEFAULT_LIMIT} events`],
    ['holdfast history deploy --since 1h', 'what happened to deploy within the hour'],
    ['holdfast history orders --under --type revoked', 'who was thrown out'],
  ]);
}

function queryOf(resource: string | undefined, flags: HistoryFlags, now: string): HistoryQuery {
  if (flags.under === true && resource === undefined) throw usage('--under needs a resource: name it, or leave it out');
  const { owner, since, until, type } = flags;
  return {
    ...(resource === undefined ? {} : flags.under === true ? { prefix: resource } : { resource }),
    ...(owner === undefined ? {} : { owner }),
    ...(since === undefined ? {} : { since: momentOf(since, '--since', now, agoMs) }),
    ...(until === undefined ? {} : { until: momentOf(until, '--until', now, agoMs) }),
    ...(type === undefined ? {} : { type: typeOf(type) }),
  };
}

function agoMs(text: string, name: string): number | undefined {
  const isDuration = /^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text);
  return isDuration ? parseDuration(text, { name, minMs: 0, maxMs: LIMITS.maxHoldMs * 10 }) : undefined;
}

async function read(
  leases: Holdfast,
  query: HistoryQuery,
  limit: number,
): Promise<{ items: LeaseEvent[]; hasMore: boolean }> {
  const items: LeaseEvent[] = [];
  let cursor: string | undefined;
  do {
    const page = { limit: Math.min(PAGE, limit - items.length), ...(cursor === undefined ? {} : { cursor }) };
    const answer = await leases.history({ ...query, ...page });
    items.push(...answer.items);
    cursor = answer.cursor;
  } while (cursor !== undefined && items.length < limit);
  return { items: items.reverse(), hasMore: cursor !== undefined };
}
