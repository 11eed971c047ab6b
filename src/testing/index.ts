// holdfast/testing: for those who write a store, or test their own code against one.
export { MemoryStore } from '../stores/memory/memory-store.js';
export { Model, type ModelOptions } from '../stores/memory/model.js';
export { FakeClock } from './fake-clock.js';
export { FaultyStore, type CountedCall, type Fault, type FaultOrder, type StoreCall } from './faulty-store.js';
export * from './store-conformance/index.js';
export { checkHistory } from './store-conformance/check-history.js';
export {
  complaintText,
  concurrentPart,
  concurrentWorkload,
  expectWork,
  type ConcurrentOptions,
  type WorkloadCounts,
  type WorkloadOptions,
} from './store-conformance/concurrent.js';
export { readHistory, readRecords, type CallRecord, type History } from './store-conformance/history-records.js';
export { checkLinearizable, type LinearVerdict } from './store-conformance/history-linear.js';
export { checkGuardedWrites, type GuardedWrite } from './store-conformance/history-writes.js';
export { historyLines, readHistoryLines, type HistoryAbout } from './store-conformance/history-file.js';
export { linearPart, linearWorkload, type LinearOptions } from './store-conformance/linear-part.js';
export { longLinePrograms } from './store-conformance/long-line-programs.js';
export { randomPrograms, type ProgramOptions } from './store-conformance/random-programs.js';
export { stressService, type StressEnvironment, type StressSubject } from './service-stress.js';
export {
  expectSequenceHistory,
  readWholeStream,
  sequenceConcurrent,
  sequenceWorkload,
  type SequenceClients,
  type SequenceConcurrentOptions,
  type SequenceWorkloadOptions,
} from './store-conformance/sequence/concurrent.js';
export {
  checkSequenceHistory,
  type SequenceHistory,
  type SequenceRecord,
} from './store-conformance/sequence/history.js';
export { sequencePrograms, type SequenceProgramOptions } from './store-conformance/sequence/programs.js';
