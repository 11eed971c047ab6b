// All named cases of the suite, in the order of the contract.
import type { ConformanceCase } from '../conformance-case.js';
import { sequenceCasesByTopic } from '../sequence/cases/index.js';
import { badNamesAndParts } from './bad-names.js';
import { badValues } from './bad-values.js';
import { batches } from './batches.js';
import { blocks } from './blocks.js';
import { boundedRevocation } from './bounded-revocation.js';
import { clockAndReplies } from './clock-and-replies.js';
import { deadlock } from './deadlock.js';
import { delegation } from './delegation.js';
import { epochsAndNamespaces } from './epochs-and-namespaces.js';
import { eventLog } from './event-log.js';
import { eventRows } from './event-rows.js';
import { exactNumbers } from './exact-numbers.js';
import { exclusionAndSubtrees } from './exclusion-and-subtrees.js';
import { expiry } from './expiry.js';
import { handOvers } from './hand-over.js';
import { handedOver } from './handed-over.js';
import { idsAndRepeats } from './ids-and-repeats.js';
import { lateAndUnknownIds } from './late-and-unknown-ids.js';
import { liftingBlocks } from './lifting-blocks.js';
import { limitsAndDeadlock } from './limits-and-deadlock.js';
import { longLines } from './long-lines.js';
import { pruning } from './pruning.js';
import { queueOrder } from './queue-order.js';
import { reads } from './reads.js';
import { reclaim } from './reclaim.js';
import { releaseAndCancel } from './release-and-cancel.js';
import { renewal } from './renewal.js';
import { reviewed } from './reviewed.js';
import { revocation } from './revocation.js';
import { setsAndLimits } from './sets-and-limits.js';
import { settings } from './settings.js';
import { sweeping } from './sweeping.js';
import { ticketsThatDie } from './tickets-that-die.js';
import { upgrades } from './upgrades.js';
import { wakeUps } from './wake-ups.js';

/** By topic; the key is the title the topic is described under. */
export const casesByTopic: Readonly<Record<string, readonly ConformanceCase[]>> = {
  'exclusion and subtrees': exclusionAndSubtrees,
  'sets and limits': setsAndLimits,
  'epochs and namespaces': epochsAndNamespaces,
  expiry,
  sweeping,
  renewal,
  'release and cancel': releaseAndCancel,
  'ids and repeats': idsAndRepeats,
  'late and unknown ids': lateAndUnknownIds,
  'queue order': queueOrder,
  'long lines': longLines,
  'hand-overs': handOvers,
  'handed over': handedOver,
  'tickets that die': ticketsThatDie,
  'wake-ups': wakeUps,
  deadlock,
  'limits and deadlock': limitsAndDeadlock,
  upgrades,
  reclaim,
  delegation,
  blocks,
  'lifting blocks': liftingBlocks,
  revocation,
  'bounded revocation': boundedRevocation,
  'event log': eventLog,
  'event rows': eventRows,
  pruning,
  settings,
  reads,
  'clock and replies': clockAndReplies,
  'exact numbers': exactNumbers,
  batches,
  'bad names and parts': badNamesAndParts,
  'bad values': badValues,
  reviewed,
  ...sequenceCasesByTopic,
};

export const conformanceCases: readonly ConformanceCase[] = Object.values(casesByTopic).flat();
