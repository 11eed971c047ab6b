// From an order to an exit code: holds, runs, gives back; once, or again and again (`--keep`). What `run` has to say goes to
// standard error, because standard output belongs to the command; with `--json` it is the other way round.
import { constants } from 'node:os';
import { LeaseError } from '../../domain/errors.js';
import type { AcquireOptions, HeldLease } from '../../index.js';
import type { Context } from '../context.js';
import { CommandError, EXIT } from '../exit-codes.js';
import { tell } from '../output.js';
import { runUnder, type Ending } from './run-under.js';
import { Signals } from './signals.js';

export interface Order {
  readonly resources: readonly string[];
  readonly options: AcquireOptions;
  readonly graceMs: number | undefined;
  readonly busyExit: number;
  readonly command: readonly string[];
}

export async function runOnce(context: Context, order: Order): Promise<number> {
  const signals = new Signals();
  try {
    const leases = await context.open();
    const lease = await leases.acquire(order.resources, { ...order.options, signal: signals.ending });
    let ending: Ending;
    try {
      ending = await runUnder(lease, { ...order, isJson: context.isJson }, { clock: context.clock, leases, signals });
    } catch (error) {
      await lease.release();
      throw error;
    }
    const { outcome } = await lease.release();
    if (outcome === 'unknown')
      tell(`${lease.resources.join(', ')} could not be released: it lapses at ${lease.expiresAt}`);
    const isGone = outcome === 'already_ended' || outcome === 'superseded';
    return report(context, lease, isGone ? { ...ending, lost: ending.lost ?? endedByOthers(lease) } : ending, signals);
  } catch (error) {
    return refused(context, order, signals, error);
  } finally {
    signals.dispose();
  }
}

export async function keepRunning(context: Context, order: Order): Promise<number> {
  const signals = new Signals();
  let status: number | undefined;
  try {
    const leases = await context.open();
    await leases.keep(order.resources, { ...order.options, signal: signals.ending }, async (lease) => {
      const site = { clock: context.clock, leases, signals };
      status = report(context, lease, await runUnder(lease, { ...order, isJson: context.isJson }, site), signals);
      if (signals.told === undefined) status = undefined; // that term is over
    });
    return status ?? endedBy(signals.told);
  } finally {
    signals.dispose();
  }
}

/** The exit code of one command under one lease, said in words where it is not the command's own. */
function report(context: Context, lease: HeldLease, ending: Ending, { told }: Signals): number {
  const { code, signal, lost } = ending;
  const hasRun = code !== null || signal !== null;
  const status = lost ? EXIT.lost : hasRun ? (code ?? endedBy(signal)) : endedBy(told);
  if (context.isJson) {
    const { id: leaseId, owner, epoch, resources } = lease;
    const outcome = lost ? 'lost' : 'ended';
    context.output.json({ outcome, resources, leaseId, owner, epoch, exitCode: code, signal, reason: lost?.message });
  }
  const what = ending.isStopped ? 'was stopped' : hasRun ? 'had ended by then' : 'was not started';
  if (lost) tell(`${lost.message}: the command ${what}`);
  return status;
}

/** Told by the store only when it was given back: the command had ended by itself before anybody knew. */
function endedByOthers({ resources }: HeldLease): Error {
  return new Error(`Lost lease for ${resources.join(', ')} while the command ran`);
}

function refused(context: Context, { busyExit }: Order, { told }: Signals, error: unknown): number {
  if (!(error instanceof LeaseError)) throw error;
  const { code, message, details } = error;
  if (code === 'ACQUIRE_ABORTED' && told !== undefined) return endedBy(told);
  if (code !== 'ACQUIRE_TIMEOUT' && code !== 'ACQUIRE_ABORTED' && code !== 'DEADLOCK') throw error;
  const isSilent = code === 'ACQUIRE_TIMEOUT' && details['refusal'] === undefined;
  if (isSilent) throw new CommandError(EXIT.unreachable, message);
  if (context.isJson) context.output.json({ outcome: 'refused', refusal: details['refusal'], reason: message });
  // Whoever asked for 0 expects to be refused now and then: cron sends mail about every line.
  if (busyExit !== EXIT.ok || context.isVerbose) tell(message);
  return busyExit;
}

function endedBy(signal: NodeJS.Signals | null | undefined): number {
  return signal ? 128 + constants.signals[signal] : EXIT.ok;
}
