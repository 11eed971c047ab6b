// Says in the log when wake-ups are no longer heard, and when they are again (S19): waiting then polls, which is slower and no
// less right.
import type { LeaseError } from '../domain/errors.js';
import type { Logger } from './logger.js';

export interface HintListener {
  down(error: LeaseError): void;
  up(): void;
}

export function hintLog(logger: Logger): HintListener {
  let isDown = false;
  return {
    down(error) {
      if (isDown) return;
      isDown = true;
      logger.warn({ code: error.code, reason: error.message }, 'wake-ups are not heard: waiting polls until they are');
    },
    up() {
      if (isDown) logger.info({}, 'wake-ups are heard again');
      isDown = false;
    },
  };
}
