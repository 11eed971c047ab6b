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
  WaitOptions,
} from './face.js';
export type {
  ManualItem,
  OpenNumber,
  ReaderFigures,
  RecoveryMethod,
  SettledState,
  StreamFigures,
} from '../domain/sequence.js';
