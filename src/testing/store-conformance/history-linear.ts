// Linearizability of what clients saw (contract, section 12): is there one order of all operations that keeps the order of
// answers before questions, and in which a store that does one after the other, by its clock, would have answered the same?
// Each group of names is searched by itself; the search is bounded and says when it gave up. A history that fails is cut to
// its shortest prefix that fails: the last answer in it is the one that fits nowhere.
import { groupsOf, operationsIn, operationText, type Operation } from './history-linear-operations.js';
import { search } from './history-linear-search.js';
import type { CallRecord } from './history-records.js';

export type LinearVerdict =
  | {
      readonly verdict: 'linearizable';
      readonly operations: number;
      /** Of these nobody heard the answer. */
      readonly open: number;
      readonly groups: number;
      readonly states: number;
    }
  | { readonly verdict: 'not linearizable'; readonly prefix: readonly Operation[]; readonly sentence: string }
  | { readonly verdict: 'gave up'; readonly states: number; readonly sentence: string };

const MOST_STATES = 200_000;
const SHOWN = 15;

export function checkLinearizable(records: readonly CallRecord[], mostStates = MOST_STATES): LinearVerdict {
  const { operations, strange } = operationsIn(records);
  if (strange.length > 0) throw new Error(`the specification has no rule for ${strange[0]}: record without such calls`);
  const groups = groupsOf(operations);
  let states = 0;
  for (const group of groups) {
    const searched = search(group, mostStates);
    states += searched.states;
    if (searched.found === 'not linearizable') return notLinearizable(group, mostStates);
    if (searched.found === 'gave up') {
      const sentence = `gave up after ${searched.states} states on ${group.length} operations: record a shorter history`;
      return { verdict: 'gave up', states: searched.states, sentence };
    }
  }
  const open = operations.filter(({ result }) => result === undefined).length;
  return { verdict: 'linearizable', operations: operations.length, open, groups: groups.length, states };
}

/** The same as complaints, for `checkHistory`'s readers: giving up is one too. */
export function linearComplaints(records: readonly CallRecord[], mostStates?: number): string[] {
  const found = checkLinearizable(records, mostStates);
  return found.verdict === 'linearizable' ? [] : [`linearizability: ${found.sentence}`];
}

function notLinearizable(group: readonly Operation[], mostStates: number): LinearVerdict {
  const answers = group.filter(({ result }) => result !== undefined).toSorted((a, b) => a.received - b.received);
  let [low, high] = [0, answers.length - 1]; // with the answer at `high` it fails
  while (low < high) {
    const middle = (low + high) >> 1;
    const isBroken = search(until(group, answers[middle]?.received ?? 0), mostStates).found === 'not linearizable';
    if (isBroken) high = middle;
    else low = middle + 1;
  }
  const last = answers[high] as Operation;
  const prefix = until(group, last.received).toSorted((a, b) => a.sent - b.sent);
  const before = prefix.filter((one) => one !== last).slice(-SHOWN);
  const sentence =
    `no order of the first ${high + 1} answers explains the last of them:\n  ${operationText(last)}\n` +
    `what was sent before it, the newest last:\n  ${before.map(operationText).join('\n  ')}`;
  return { verdict: 'not linearizable', prefix, sentence };
}

/** The history as it was at this moment: what was not answered yet is open, what was not sent yet is not there. */
function until(group: readonly Operation[], moment: number): Operation[] {
  return group
    .filter(({ sent }) => sent <= moment)
    .map((one) =>
      one.received <= moment
        ? one
        : { ...one, received: Infinity, now: undefined, result: undefined, after: undefined },
    );
}
