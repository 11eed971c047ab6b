// holdfast/sequence: the types of streams of numbers. A stream itself comes from `leases.sequence(name)`.
export type {
  CommitOptions,
  Followed,
  LeaseNumberOptions,
  OperationsOf,
  SequenceLease,
  SequenceOptions,
  Settled,
  Stream,
  StreamGap,
  StreamGaps,
  StreamReader,
  StreamRecovery,
  WaitOptions,
} from './face.js';
export type {
  Claimed,
  ManualItem,
  OpenNumber,
  ReaderFigures,
  RecoveryMethod,
  SettledState,
  StreamFigures,
} from '../domain/sequence.js';
