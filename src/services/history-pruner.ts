// The history pruner (H4): removes log rows older than `history_retention_days`, and ended ids with them, in short steps.
// With `history_archive_path` a row is removed only after it stands in that file, on the disk; when the file cannot be
// written nothing is removed. The log of the turns themselves is kept for a day.
import { LIMITS } from '../domain/limits.js';
import type { Settings } from '../domain/settings.js';
import type { Store } from '../stores/store.js';
import { Archiving } from './archive-history.js';
import { HistoryArchive } from './history-archive.js';
import { pause, type Service } from './service.js';
import { INTERNAL_NAMESPACE, type Turn, type Work } from './turn.js';
import { turnService, type ServiceContext } from './turn-service.js';

const EVERY_MS = 10 * 60_000;
const DAY_MS = 24 * 3_600_000;
const MAX_STEPS = 200;
const STEP_PAUSE_MS = 10;

export function historyPruner(context: ServiceContext): Service {
  return turnService(context, {
    name: 'history-pruner',
    everyMs: () => EVERY_MS,
    work: (turn, settings) => pruneHistory(context, turn, settings),
  });
}

/** One turn of it. */
export async function pruneHistory(context: ServiceContext, turn: Turn, settings: Settings): Promise<Work> {
  const { store } = context;
  const olderThanMs = settings.history_retention_days * DAY_MS;
  const inside = await inSteps(context, turn, pruning(store.within(INTERNAL_NAMESPACE), DAY_MS));
  const path = settings.history_archive_path;
  const rest =
    path === ''
      ? await inSteps(context, turn, pruning(store, olderThanMs))
      : await archiveAndPrune(context, turn, path, olderThanMs);
  return inside === 'more' ? 'more' : rest;
}

/** A step answers whether there is more. */
type Step = () => Promise<boolean>;

async function inSteps({ clock }: ServiceContext, { signal }: Turn, step: Step): Promise<Work> {
  for (let count = 0; count < MAX_STEPS && !signal.aborted; count += 1) {
    if (count > 0) await pause(clock, STEP_PAUSE_MS, signal);
    if (!(await step())) return 'done';
  }
  return 'more';
}

function pruning(store: Store, olderThanMs: number): Step {
  return async () => (await store.prune({ olderThanMs, limit: LIMITS.rowsPerStep })).more;
}

async function archiveAndPrune(context: ServiceContext, turn: Turn, path: string, olderThanMs: number): Promise<Work> {
  const { store, clock } = context;
  const archive = await HistoryArchive.open(path, store.namespace);
  try {
    const archiving = new Archiving({ store, archive, turn, clock, olderThanMs });
    return await inSteps(context, turn, () => archiving.step());
  } finally {
    await archive.close();
  }
}
