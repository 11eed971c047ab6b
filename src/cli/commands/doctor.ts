// holdfast doctor (C9): the runbook, run. It only looks. Exit 0: nothing is wrong; 1: something is; 69: the store could not
// even be opened, which is printed as the finding it is.
import type { Command } from 'commander';
import type { Diagnosis } from '../../doctor/diagnose.js';
import { parseDuration } from '../../domain/duration.js';
import type { Context } from '../context.js';
import { diagnosisLines } from '../diagnosis-lines.js';
import { EXIT } from '../exit-codes.js';
import { examples } from '../help.js';

/** An exit code of its own: the store answered, and something is wrong. */
const FOUND = 1;
const LONGEST_WATCH_MS = 3_600_000;

export function define(command: Command, context: Context): void {
  command
    .argument('[resource]', 'only this name; without it the whole namespace')
    .option('--for <duration>', 'watch for this long, and report what happened meanwhile; ^C ends it early')
    .action((resource: string | undefined, flags: { for?: string }) => doctor(context, resource, flags.for));
  examples(command, [
    ['holdfast doctor', 'the last five minutes: six causes, the store, queues, streams'],
    ['holdfast doctor orders/0', 'only this name'],
    ['holdfast doctor --for 60s', 'does it hold? nothing older than the watch counts'],
    ['holdfast doctor --json', 'for programs; exit 1 if anything is wrong'],
  ]);
}

async function doctor(context: Context, resource: string | undefined, watchFor: string | undefined): Promise<void> {
  const bounds = { name: '--for', minMs: 1, maxMs: LONGEST_WATCH_MS };
  const watchMs = watchFor === undefined ? undefined : parseDuration(watchFor, bounds);
  const diagnosis = await examine(context, resource, watchMs);
  if (context.isJson) context.output.json(diagnosis);
  else for (const line of diagnosisLines(diagnosis, context.output)) context.output.line(line);
  if (diagnosis.verdict === 'wrong' && context.exitCode === EXIT.ok) context.exitCode = FOUND;
}

async function examine(
  context: Context,
  resource: string | undefined,
  watchMs: number | undefined,
): Promise<Diagnosis> {
  const { diagnose } = await import('../../doctor/diagnose.js');
  let store;
  try {
    store = await context.lookStore();
  } catch (error) {
    const { unreachable } = await import('../../doctor/unreachable.js');
    const { schemeOf } = await import('../../stores/open-store.js');
    const found = unreachable(error, context.namespace().value, schemeOf((await context.store()).value));
    if (found === undefined) throw error;
    context.exitCode = EXIT.unreachable;
    return found;
  }
  const isShown = process.stderr.isTTY && !context.isJson && watchMs !== undefined;
  const onTick = (leftMs: number): void => {
    process.stderr.write(`\r\u001b[Kwatching, ${Math.ceil(leftMs / 1_000)}s left, ^C ends`);
  };
  try {
    return await diagnose(store, {
      clock: context.clock,
      resource,
      watchMs,
      ...(watchMs === undefined ? {} : { signal: context.interrupt() }),
      ...(isShown ? { onTick } : {}),
    });
  } finally {
    if (isShown) process.stderr.write('\r\u001b[K');
  }
}
