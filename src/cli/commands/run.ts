// holdfast run (C2): holds a lease while a command runs. The command's exit code is the answer, 128 + n when signal n ended
// it; a refusal, a loss or a command that cannot be started have codes of their own. With `--keep` the command is started
// again after every end and every loss, until `run` itself is told to end: leader election for anything.
import { InvalidArgumentError, type Command } from 'commander';
import { parseDuration } from '../../domain/duration.js';
import { LIMITS } from '../../domain/limits.js';
import type { AcquireOptions } from '../../index.js';
import type { Context } from '../context.js';
import { EXIT, usage } from '../exit-codes.js';
import { examples } from '../help.js';
import { acquireOptionsOf, addLeaseOptions, wholeNumber, type LeaseFlags } from '../lease-options.js';
import { keepRunning, runOnce, type Order } from '../run/hold-and-run.js';
import { checkProgram } from '../run/program.js';
import { stopWindow } from '../run/stop-window.js';

interface RunFlags extends LeaseFlags {
  keep?: boolean;
  busyExit: number;
  grace?: string;
}

export function define(command: Command, context: Context): void {
  const words = wordsAfterDashes(context.argv);
  command.argument('<resource...>', 'what to hold: all of them together, or none').usage('RESOURCE… [options] -- CMD…');
  addLeaseOptions(command)
    .option('--keep', 'start the command again after every end and every loss, until told to end')
    .option('--busy-exit <n>', 'the exit code when it is refused or not free in time', exitCode, EXIT.refused)
    .option('--grace <duration>', 'between SIGTERM and SIGKILL (10s; on a loss as much as the lease leaves)')
    .action(async (operands: string[], flags: RunFlags) => {
      const order = orderOf(operands.slice(0, operands.length - words.length), words, flags);
      context.exitCode = await (flags.keep === true ? keepRunning : runOnce)(context, order);
    });
  examples(command, [
    ['holdfast run deploy -- ./deploy.sh', 'hold "deploy" while it runs'],
    ['holdfast run backup --no-wait -- ./backup.sh', 'now, or exit 75'],
    ['holdfast run cron/report --no-wait --busy-exit 0 --min-hold 10m -- ./report', 'once, on whichever machine'],
    ['holdfast run leader --keep -- ./serve', 'one leader; the next one takes over'],
    ['holdfast run db/a db/b --wait forever -- ./migrate', 'both, however long it takes'],
    ['holdfast run gpu --shared --limit 2 -- ./train', 'two at a time'],
    ['holdfast run deploy --json -- ./deploy.sh 2> log', 'the outcome for programs; what it prints is in the log'],
  ]);
}

/** What follows the first `--`; everything before it is `run`'s own. */
function wordsAfterDashes(argv: readonly string[]): readonly string[] {
  const at = argv.indexOf('--');
  if (at !== -1) return argv.slice(at + 1);
  if (argv.includes('--help') || argv.includes('-h')) return [];
  const [resource = 'RESOURCE', ...rest] = argv.slice(argv.indexOf('run') + 1);
  const guess = rest.length === 0 ? 'CMD' : rest.join(' ');
  throw usage(`-- is missing between what to hold and what to run: holdfast run ${resource} -- ${guess}`);
}

function orderOf(resources: readonly string[], words: readonly string[], flags: RunFlags): Order {
  if (resources.length === 0) throw usage('name what to hold before the --: holdfast run RESOURCE -- CMD');
  if (words.length === 0) throw usage('name the command after the --: holdfast run RESOURCE -- CMD');
  const isWaitGiven = flags.wait === false || (flags.wait !== undefined && flags.wait !== 'forever');
  if (flags.keep === true && isWaitGiven)
    throw usage('--keep waits for as long as it takes: leave out --wait and --no-wait');
  const options = acquireOptionsOf(flags);
  const graceMs =
    flags.grace === undefined
      ? undefined
      : parseDuration(flags.grace, { name: '--grace', minMs: 0, maxMs: LIMITS.ttlMs });
  checkGrace(options, graceMs);
  return { resources, options, graceMs, busyExit: flags.busyExit, command: checkProgram(words, process.env['PATH']) };
}

/** As soon as the ttl is known; where the store's settings decide it, when the lease is granted. */
function checkGrace({ ttl }: AcquireOptions, graceMs: number | undefined): void {
  if (ttl === undefined || ttl === 'adaptive') return;
  stopWindow(parseDuration(ttl, { name: 'ttl', minMs: LIMITS.minTtlAutoMs, maxMs: LIMITS.ttlMs }), graceMs);
}

function exitCode(text: string): number {
  const code = wholeNumber(text);
  if (code >= 0 && code <= 255) return code;
  throw new InvalidArgumentError('It is from 0 to 255.');
}
