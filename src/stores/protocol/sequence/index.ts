// The sequence protocol for the author of a store that runs it in its own process: rows are kept there, decided here.
export { commit, lease, progress, release } from './hold.js';
export { SequencesOverRows, SettledListeners, type SequenceHost } from './over-rows.js';
export { append, fill } from './place.js';
export { barrier, barrierNeedsWrite, cursor, gaps, read, readNeedsWrite, streams, trim } from './read.js';
export { claim, manual, manualItems, renewClaim, settle } from './recover.js';
export {
  dueAt,
  isOpen,
  type Claim,
  type ReaderRow,
  type SequenceRows,
  type SequenceStep,
  type ShownSpan,
  type SpanRow,
  type StreamRow,
} from './rows.js';
