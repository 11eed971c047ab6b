// The barrier (N3): waiting until everything below a number is settled. Whoever waits also recovers what blocks it, as soon
// as that may be recovered, so that progress needs no service anywhere.
import { checkKeys } from '../domain/check-keys.js';
import { checkNumber } from '../domain/check-sequence.js';
import { parseDuration } from '../domain/duration.js';
import { LeaseError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { OpenNumber } from '../domain/sequence.js';
import type { BarrierReply } from '../stores/sequence-store.js';
import type { WaitOptions } from './face.js';
import type { NumberWork } from './number-work.js';
import type { SequenceLink } from './sequence-link.js';
import type { Wake, WakeRoom } from './wake-room.js';

const KNOWN: ReadonlySet<string> = new Set<keyof WaitOptions>(['timeout', 'signal']);
/** How long nobody waits for a hint without looking. */
export const SAFETY_POLL_MS = 2_000;
const SOON_MS = 50;
/** An answer that is on its way when the time is over is waited for as long as answers take here, and no longer than this. */
const LONGEST_LAST_MS = 1_000;
const LATENCIES = 3;

/** What streams share in one process. */
export interface Shared {
  readonly link: SequenceLink;
  readonly room: WakeRoom;
  readonly work: NumberWork;
  /** Recovers what is due in this stream. Never rejects. */
  readonly unblock: (stream: string) => Promise<void>;
}

/** Of a wait that is part of other work. */
export interface Asking {
  /** Whether the store owes an answer: who was aborted then cannot tell how things stand there. */
  isOpen: boolean;
  /** When the connection lets it wait no longer. */
  readonly end: AbortSignal;
}

export async function waitFor(
  shared: Shared,
  stream: string,
  number: number,
  options: WaitOptions = {},
  asking: Asking = { isOpen: false, end: shared.link.intake },
): Promise<void> {
  checkNumber(number, 'the number to wait for');
  checkKeys(options, KNOWN, 'of waitFor');
  const { link, room } = shared;
  const { clock } = link;
  const { timeout, signal } = options;
  const patienceMs =
    timeout === undefined ? Infinity : parseDuration(timeout, { name: 'timeout', minMs: 0, maxMs: LIMITS.waitMs });
  const until = clock.monotonic() + patienceMs;
  const { end } = asking;
  const over = signal ? [signal, end] : [end];
  const wake = room.listen(stream);
  let seen: BarrierReply | undefined;
  try {
    for (;;) {
      throwIfAborted(stream, number, signal, end);
      asking.isOpen = true;
      const ask = () => link.call('barrier', (store) => store.barrier({ stream, number, watch: true }));
      seen = await inTime(link, until, link.untilAnswered(until, ask, signal));
      asking.isOpen = false;
      if (seen.reached) return;
      if (clock.monotonic() >= until) throw notInTime(stream, number, seen);
      await recoverOrWait(shared, stream, seen, { wake, until, over });
    }
  } catch (error) {
    throwIfAborted(stream, number, signal, end);
    if (asking.isOpen && clock.monotonic() >= until) throw notInTime(stream, number, seen, error);
    throw error;
  } finally {
    wake.leave();
  }
}

/** The time of a wait is over for a store that says nothing, too. */
function inTime<T>(link: SequenceLink, until: number, answer: Promise<T>): Promise<T> {
  if (until === Infinity) return answer;
  const lastMs = Math.min(SOON_MS + LATENCIES * link.latencyMs, LONGEST_LAST_MS);
  const restMs = Math.max(0, until - link.clock.monotonic());
  return link.manager.link.within(restMs + lastMs, 'sequence.barrier', answer);
}

/** Recovers what blocks the stream when it is due, and waits for a hint before the next look. Recovery may take minutes and
 *  goes on by itself: nobody waits for its end longer than for a hint. */
export async function recoverOrWait(
  { link, unblock }: Shared,
  stream: string,
  { oldestOpen, now }: { readonly oldestOpen?: OpenNumber | undefined; readonly now: number },
  { wake, until, over }: { wake: Wake; until: number; over: readonly AbortSignal[] },
): Promise<void> {
  const rest = (ms: number, work?: Promise<void>): Promise<void> =>
    wake.rung(Math.max(0, Math.min(ms, until - link.clock.monotonic())), over, work);
  if (!oldestOpen) return rest(SAFETY_POLL_MS);
  if (oldestOpen.dueAt > now) return rest(Math.min(SAFETY_POLL_MS, oldestOpen.dueAt - now));
  let isDone = false;
  const work = unblock(stream).then(() => {
    isDone = true;
  });
  await rest(SAFETY_POLL_MS, work);
  if (isDone) await rest(SOON_MS); // what could not be recovered is not tried again at once
}

export function throwIfAborted(stream: string, number: number, ...signals: readonly (AbortSignal | undefined)[]): void {
  const aborted = signals.find((signal) => signal?.aborted === true);
  if (!aborted) return;
  const reason: unknown = aborted.reason;
  if (reason instanceof LeaseError) throw reason;
  throw new LeaseError('ACQUIRE_ABORTED', `waiting for number ${number} of ${stream} was aborted`, { cause: reason });
}

/** With what the store said last, if it said anything. */
function notInTime(stream: string, number: number, seen: BarrierReply | undefined, cause?: unknown): LeaseError {
  const message = `it is not the turn of number ${number} of ${stream}: ${whyNot(seen)}`;
  const facts = seen && { watermark: seen.watermark, ...(seen.oldestOpen ? { blocker: seen.oldestOpen } : {}) };
  return new LeaseError('ACQUIRE_TIMEOUT', message, { details: { stream, number, ...facts }, cause });
}

function whyNot(seen: BarrierReply | undefined): string {
  if (!seen) return 'the store has not answered';
  const { oldestOpen: blocker, watermark } = seen;
  if (!blocker) return `number ${watermark + 1} has not been leased yet`;
  return `number ${blocker.number} (${blocker.operationId}, leased by ${blocker.owner}) is still open`;
}
