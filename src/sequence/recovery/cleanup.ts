// Cleaners (V6): what an operation that is over left behind. They run when its number has been settled, so that its holder is
// fenced for good, and nobody will try it again (V4); in parallel, 10 s each, and none of them keeps the others, or recovery,
// from going on.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../domain/clock.js';
import { invalid } from '../../domain/errors.js';
import { LIMITS } from '../../domain/limits.js';
import type { LeaseManager } from '../../manager/lease-manager.js';
import { answerWithin } from '../../manager/store-link.js';
import type { Cleaner } from './registry.js';

const CLEANER_MS = 10_000;
const MOST_PAGES = 100;
const FOLDER_NAME = /^[A-Za-z0-9._-]{1,255}$/;

/** Answers what went wrong, one error for each cleaner that failed. */
export async function runCleaners(clock: Clock, cleaners: readonly Cleaner[], operationId: string): Promise<unknown[]> {
  const runs = cleaners.map(async (clean) => answerWithin(clock, CLEANER_MS, 'a cleaner', clean(operationId)));
  const ends = await Promise.allSettled(runs);
  return ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
}

/** Built in: the folder `root/<operationId>/`. An operation id that is no plain name of a folder is refused. */
export function cleanFiles(root: string): Cleaner {
  return async (operationId) => {
    if (!FOLDER_NAME.test(operationId) || operationId === '.' || operationId === '..')
      throw invalid(`operation ${operationId} names no folder below ${root}: only A-Z a-z 0-9 . _ - are taken for one`);
    await rm(join(root, operationId), { recursive: true, force: true });
  };
}

/** Built in: leases that were taken with this operation id. */
export function cleanLeases(manager: LeaseManager): Cleaner {
  return async (operationId) => {
    const { store } = manager.link;
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page += 1) {
      const listed = await store.list({ limit: LIMITS.rowsPerStep, cursor });
      const { epoch: upToEpoch } = await store.time();
      for (const { id } of listed.items.filter((lease) => lease.operationId === operationId)) {
        const reason = `its operation ${operationId} was recovered`.slice(0, LIMITS.reasonBytes);
        await store.revoke({ target: { leaseId: id }, upToEpoch, reason, actor: manager.defaults.owner, keepOutMs: 0 });
      }
      cursor = listed.cursor;
      if (cursor === undefined) return;
    }
  };
}
