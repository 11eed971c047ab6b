// The streams of a model as a store of their own, run at the time one says: what random programs compare a store with.
import { SequencesOverRows } from '../protocol/sequence/over-rows.js';
import type { SequenceStep } from '../protocol/sequence/rows.js';
import type { SequenceStore } from '../sequence-store.js';
import type { Reply } from '../store.js';
import type { Model } from './model.js';

export function modelSequences(model: Model, at: () => { readonly now: number; readonly wall: number }): SequenceStore {
  const run = async <T extends object>(act: (step: SequenceStep) => T): Promise<T & Reply> => {
    const { now, wall } = at();
    const answer = act(model.sequenceStep(now, wall));
    return { now, incarnation: 'model', settingsVersion: model.settingsVersion, ...answer };
  };
  return new SequencesOverRows({ step: run, look: run, subscribe: () => () => undefined, durability: 'none' });
}
