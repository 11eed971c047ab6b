// One change of a lease (delegate, resume, downgrade), asked again under one request id while its answer is unknown (S5,
// S15). All copies are the same question, so whichever of them is answered first answers it, however late that is. `pinned`
// is no answer yet: a guarded transaction is still open, and the change is asked for again once there was time to end it (G1).
import type { Clock } from '../domain/clock.js';
import { LeaseError } from '../domain/errors.js';
import type { ChangeRequest } from '../domain/requests.js';
import type { ChangeResult } from '../stores/store.js';
import type { Answer } from './keeper.js';
import type { StoreLink } from './store-link.js';

export interface Asking {
  readonly timeoutMs: number;
  /** The first pause; it doubles. */
  readonly pauseMs: number;
  /** Whether there is time for another try after a pause of this length. */
  readonly mayRetry: (pauseMs: number, attempt: number) => boolean;
  /** The answer to another copy, after the first: it may say how the lease stands by now. */
  readonly onLaterAnswer?: (result: ChangeResult) => void;
}

export interface Answered {
  readonly result: ChangeResult;
  /** When the copy that was answered had been sent. */
  readonly sent: Omit<Answer, 'remainingMs'>;
}

export async function askUntilAnswered(
  { link, clock }: { readonly link: StoreLink; readonly clock: Clock },
  request: ChangeRequest,
  asking: Asking,
): Promise<Answered> {
  let settle: (answer: Answered) => void = () => undefined;
  let first: Answered | undefined;
  const anyAnswer = new Promise<Answered>((resolve) => {
    settle = resolve;
  });
  const ask = async (): Promise<Answered> => {
    const sent = { sentAt: clock.monotonic(), sentWall: clock.wall() };
    const { result } = await link.change(request);
    const answer = { result, sent };
    if (result.outcome === 'pinned') return first ?? answer;
    if (first) asking.onLaterAnswer?.(result);
    first ??= answer;
    settle(first);
    return first;
  };
  for (let [attempt, pauseMs] = [1, asking.pauseMs]; ; attempt += 1, pauseMs *= 2) {
    try {
      const asked = Promise.race([ask(), anyAnswer]);
      const answer = await link.sentWithin(asking.timeoutMs, request.kind, request, asked);
      if (answer.result.outcome !== 'pinned' || !asking.mayRetry(pauseMs, attempt)) return answer;
    } catch (error) {
      const isFinal = !(error instanceof LeaseError) || !error.retryable;
      if (isFinal || !asking.mayRetry(pauseMs, attempt)) throw error;
    }
    await Promise.race([anyAnswer, pause(clock, pauseMs)]);
    if (first) return first;
  }
}

export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve, true);
  });
}
