// Keeps the calls of a program as the records of a history, so that the checkers of the concurrent part can look at it
// too: a program on which store and model agree must also be one the contract allows.
import { LeaseError } from '../../../domain/errors.js';
import type { Pruned, Reply } from '../../../stores/store.js';
import type { CallRecord } from '../history-records.js';
import type { Call } from './call.js';

export class Recorder {
  readonly records: CallRecord[] = [];
  #isLogWhole = true;

  /** False once rows were pruned or not written: then there is no history to check. */
  get isLogWhole(): boolean {
    return this.#isLogWhole;
  }

  readonly watch = (call: Call, answer: Reply | LeaseError, client: number): void => {
    if (answer instanceof LeaseError) return;
    if (call.op === 'prune' && (answer as Pruned).events > 0) this.#isLogWhole = false;
    if (call.op === 'setSettings' && call.asked['keep_history'] === false) this.#isLogWhole = false;
    if (!isRecorded(call)) return;
    const sent = 2 * this.records.length;
    const record = { client: `client ${client}`, sent, received: sent + 1, now: answer.now, op: call.op, answer };
    this.records.push({ ...record, asked: call.asked } as unknown as CallRecord);
  };
}

function isRecorded({ op }: Call): boolean {
  return op === 'acquire' || op === 'renew' || op === 'end' || op === 'change' || op === 'revoke';
}
