// The barrier (N3): waiting until everything below a number is settled. Whoever waits also recovers what blocks it, as soon
// as that may be recovered, so that progress needs no service anywhere.
import { checkNumber } from '../domain/check-sequence.js';
import { parseDuration } from '../domain/duration.js';
import { LeaseError } from '../domain/errors.js';
import { LIMITS } from '../domain/limits.js';
import type { OpenNumber } from '../domain/sequence.js';
import type { WaitOptions } from './face.js';
import type { SequenceLink } from './sequence-link.js';
import type { WakeRoom } from './wake-room.js';

/** How long nobody waits for a hint without looking. */
export const SAFETY_POLL_MS = 2_000;
const SOON_MS = 50;

/** What streams share in one process. */
export interface Shared {
  readonly link: SequenceLink;
  readonly room: WakeRoom;
  /** Recovers what is due in this stream. Never rejects. */
  readonly unblock: (stream: string) => Promise<void>;
}

export async function waitFor(
  shared: Shared,
  stream: string,
  number: number,
  options: WaitOptions = {},
): Promise<void> {
  checkNumber(number, 'the number to wait for');
  const { link, room } = shared;
  const { clock } = link;
  const { timeout, signal } = options;
  const patienceMs =
    timeout === undefined ? Infinity : parseDuration(timeout, { name: 'timeout', minMs: 0, maxMs: LIMITS.waitMs });
  const until = clock.monotonic() + patienceMs;
  const wake = room.listen(stream);
  try {
    for (;;) {
      throwIfAborted(stream, number, signal, link.life);
      const reply = await link.untilAnswered(until, () =>
        link.call('barrier', (store) => store.barrier({ stream, number, watch: true })),
      );
      if (reply.reached) return;
      const leftMs = until - clock.monotonic();
      if (leftMs <= 0) throw notInTime(stream, number, reply.watermark, reply.oldestOpen);
      const dueInMs = await recoverOrWait(shared, stream, reply.oldestOpen, reply.now);
      const over = signal ? AbortSignal.any([signal, link.life]) : link.life;
      await wake.rung(Math.min(dueInMs, leftMs), over);
    }
  } finally {
    wake.leave();
  }
}

/** Recovers what blocks the stream when it is due; answers how long to wait for a hint before looking again. */
export async function recoverOrWait(
  { unblock }: Shared,
  stream: string,
  blocker: OpenNumber | undefined,
  now: number,
): Promise<number> {
  if (!blocker) return SAFETY_POLL_MS;
  if (blocker.dueAt > now) return Math.min(SAFETY_POLL_MS, blocker.dueAt - now);
  await unblock(stream);
  return SOON_MS;
}

export function throwIfAborted(stream: string, number: number, ...signals: readonly (AbortSignal | undefined)[]): void {
  const aborted = signals.find((signal) => signal?.aborted === true);
  if (!aborted) return;
  const reason: unknown = aborted.reason;
  if (reason instanceof LeaseError) throw reason;
  throw new LeaseError('ACQUIRE_ABORTED', `waiting for number ${number} of ${stream} was aborted`, { cause: reason });
}

function notInTime(stream: string, number: number, watermark: number, blocker: OpenNumber | undefined): LeaseError {
  const why = blocker
    ? `number ${blocker.number} (${blocker.operationId}, leased by ${blocker.owner}) is still open`
    : `number ${watermark + 1} has not been leased yet`;
  return new LeaseError('ACQUIRE_TIMEOUT', `it is not the turn of number ${number} of ${stream}: ${why}`, {
    details: { stream, number, watermark, ...(blocker ? { blocker } : {}) },
  });
}
