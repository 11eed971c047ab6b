// The webhook of alerts (O3): one POST for each notice, signed, tried a few times with growing pauses, each try bounded. A
// receiver that hangs costs one try at a time and stops nothing else.
//
//   Holdfast-Timestamp: seconds since 1970, as sent
//   Holdfast-Signature: v1=HMAC-SHA256(secret, timestamp + '.' + body), in hex
//   Holdfast-Notice:    the id of the notice: it may come twice, with the same id
import { createHmac } from 'node:crypto';
import type { Clock } from '../domain/clock.js';
import { LeaseError } from '../domain/errors.js';

export interface Notice {
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
}

const TRIES = 4;
const TRY_MS = 5_000;
const FIRST_PAUSE_MS = 1_000;

export function signatureOf(secret: string, timestamp: string, body: string): string {
  return `v1=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;
}

/** Resolves when it was taken with a 2xx; rejects after the last try, or when the signal aborts. */
export async function sendNotice(
  { url, secret, clock, signal }: { url: string; secret: string; clock: Clock; signal: AbortSignal },
  notice: Notice,
): Promise<void> {
  let pauseMs = FIRST_PAUSE_MS;
  for (let tries = 1; ; tries += 1) {
    try {
      await postOnce({ url, secret, clock, signal }, notice);
      return;
    } catch (error) {
      if (tries === TRIES || signal.aborted) throw error;
    }
    await pause(clock, pauseMs, signal);
    pauseMs *= 2;
  }
}

async function postOnce(
  { url, secret, clock, signal }: { url: string; secret: string; clock: Clock; signal: AbortSignal },
  notice: Notice,
): Promise<void> {
  signal.throwIfAborted();
  const body = JSON.stringify({ id: notice.id, ...notice.body });
  const timestamp = String(Math.floor(clock.wall() / 1_000));
  const late = new AbortController();
  const stop = (): void => late.abort(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  const timer = clock.after(TRY_MS, () => late.abort(refused(url, `no answer within ${TRY_MS} ms`)), true);
  try {
    const answer = await fetch(url, {
      method: 'POST',
      redirect: 'error',
      signal: late.signal,
      headers: {
        'content-type': 'application/json',
        'holdfast-timestamp': timestamp,
        'holdfast-signature': signatureOf(secret, timestamp, body),
        'holdfast-notice': notice.id,
      },
      body,
    });
    await answer.body?.cancel();
    if (!answer.ok) throw refused(url, `it answered ${answer.status}`);
  } catch (cause) {
    if (cause instanceof LeaseError) throw cause;
    throw refused(url, cause instanceof Error ? cause.message : 'it failed');
  } finally {
    signal.removeEventListener('abort', stop);
    timer.cancel();
  }
}

/** Says the host and nothing else: the rest of the address may be a secret. */
function refused(url: string, why: string): LeaseError {
  const host = URL.canParse(url) ? new URL(url).host : 'an address that is none';
  return new LeaseError('STORE_UNAVAILABLE', `the alert webhook at ${host} did not take a notice: ${why}`);
}

function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      timer.cancel();
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = clock.after(ms, done, true);
    signal.addEventListener('abort', done, { once: true });
    if (signal.aborted) done();
  });
}
