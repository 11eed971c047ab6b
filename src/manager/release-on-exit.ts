// SIGINT and SIGTERM (A9): the first shuts down in order and then ends the process as the signal would have; a second one
// ends it at once. Several managers of one process share one pair of handlers: the process ends when all of them are down.
import { constants } from 'node:os';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
type Signal = (typeof SIGNALS)[number];

/** One for each call that has not been taken back. */
const hooks = new Set<{ readonly shutdown: () => Promise<void> }>();
let isEnding = false;

/** Answers the function that takes this manager out again. */
export function releaseOnExit(shutdown: () => Promise<void>): () => void {
  const hook = { shutdown };
  if (hooks.size === 0) for (const signal of SIGNALS) process.on(signal, onSignal);
  hooks.add(hook);
  return () => {
    if (!hooks.delete(hook) || hooks.size > 0) return;
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
}

function onSignal(signal: Signal): void {
  const exitCode = 128 + constants.signals[signal];
  if (isEnding) process.exit(exitCode);
  isEnding = true;
  const exit = (): never => process.exit(exitCode);
  Promise.allSettled([...hooks].map(({ shutdown }) => shutdown())).then(exit, exit);
}
