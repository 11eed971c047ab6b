// One listener for each signal, however many wait on it: an application hands one signal to hundreds of waits, and Node
// takes the eleventh listener for a leak and says so. Taken back it leaves nothing; a signal that was given to `AbortSignal.any`
// keeps an entry for every one that was made of it, for as long as it lives itself.

interface Waiting {
  readonly calls: Set<{ readonly fn: () => void }>;
  readonly listener: () => void;
}

const waitingOn = new WeakMap<AbortSignal, Waiting>();

/** Calls `fn` when the signal aborts. Answers the function that takes it back. */
export function onAbort(signal: AbortSignal, fn: () => void): () => void {
  const call = { fn };
  const { calls, listener } = waitingOn.get(signal) ?? listenTo(signal);
  calls.add(call);
  return () => {
    if (!calls.delete(call) || calls.size > 0) return;
    signal.removeEventListener('abort', listener);
    waitingOn.delete(signal);
  };
}

function listenTo(signal: AbortSignal): Waiting {
  const calls = new Set<{ readonly fn: () => void }>();
  const listener = (): void => {
    waitingOn.delete(signal);
    const all = [...calls];
    calls.clear();
    for (const { fn } of all) fn();
  };
  const waiting = { calls, listener };
  waitingOn.set(signal, waiting);
  signal.addEventListener('abort', listener, { once: true });
  return waiting;
}
