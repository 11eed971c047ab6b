// The options of a lease to be taken, the same for `acquire` and `run`, and what they mean to the manager. Durations and
// bounds are checked there; here only what the command line itself can get wrong.
import { InvalidArgumentError, type Command } from 'commander';
import type { AcquireOptions } from '../index.js';
import { usage } from './exit-codes.js';

export interface LeaseFlags {
  ttl?: string;
  /** false: `--no-wait`. */
  wait?: string | false;
  shared?: boolean;
  limit?: number;
  subtree?: boolean;
  priority?: number;
  minHold?: string;
  maxHold?: string;
  lockDelay?: string;
}

export function wholeNumber(text: string): number {
  const value = Number(text);
  if (/^[+-]?\d+$/.test(text) && Number.isSafeInteger(value)) return value;
  throw new InvalidArgumentError('It is a whole number.');
}

/** Both are one option to commander, of which the last would win in silence. */
export function addWaitOptions(command: Command): Command {
  const given = new Set<string>();
  for (const name of ['wait', 'no-wait']) {
    command.on(`option:${name}`, () => {
      if (given.add(name).size > 1) throw usage('--wait and --no-wait contradict each other: give one of them');
    });
  }
  return command
    .option('--wait <duration>', 'how long to wait for it, such as 5m, or forever')
    .option('--no-wait', 'do not wait: take it now or be refused');
}

export function addLeaseOptions(command: Command): Command {
  command.option('--ttl <duration>', 'how long the lease lives without a renewal, such as 30s or 1h');
  return addWaitOptions(command)
    .option('--shared', 'together with other shared holders')
    .option('--limit <n>', 'with --shared: at most so many at a time', wholeNumber)
    .option('--subtree', 'the name and everything below it')
    .option('--priority <n>', 'from -100 to 100: each step is worth half a minute of waiting', wholeNumber)
    .option('--min-hold <duration>', 'stays taken this long, also when released earlier')
    .option('--max-hold <duration>', 'ends after this long, however often it is renewed')
    .option('--lock-delay <duration>', 'stays taken this long after an expiry or a revocation');
}

export function acquireOptionsOf(flags: LeaseFlags): AcquireOptions {
  const { ttl, wait, limit, priority, minHold, maxHold, lockDelay } = flags;
  if (limit !== undefined && flags.shared !== true)
    throw usage('--limit needs --shared: an exclusive lease has one holder');
  return {
    ...(ttl === undefined ? {} : { ttl }),
    ...(wait === undefined ? {} : { wait: wait === false ? 0 : wait }),
    ...(flags.shared === true ? { mode: 'shared' as const } : {}),
    ...(flags.subtree === true ? { scope: 'subtree' as const } : {}),
    ...(limit === undefined ? {} : { limit }),
    ...(priority === undefined ? {} : { priority }),
    ...(minHold === undefined ? {} : { minHold }),
    ...(maxHold === undefined ? {} : { maxHold }),
    ...(lockDelay === undefined ? {} : { lockDelay }),
  };
}
