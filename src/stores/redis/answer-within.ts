// A bound on every wait: client libraries may keep a command for as long as they like (a frozen server, a black-holed socket,
// an offline queue), the store does not. A call that waits keeps the process alive, a connection does not.
import type { Clock } from '../../domain/clock.js';

export function answerWithin<T>(clock: Clock, ms: number, answer: Promise<T>, late: () => Error): Promise<T> {
  return new Promise((resolve, reject) => {
    const timer = clock.after(ms, () => reject(late()), true);
    answer.then(
      (value) => {
        timer.cancel();
        resolve(value);
      },
      (error: unknown) => {
        timer.cancel();
        reject(error instanceof Error ? error : new Error(String(error)));
      },
    );
  });
}

export function pause(clock: Clock, ms: number): Promise<void> {
  return new Promise((resolve) => {
    clock.after(ms, resolve, true);
  });
}
