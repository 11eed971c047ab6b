// The named cases of the sequence part, by topic.
import type { ConformanceCase } from '../../conformance-case.js';
import { badInput } from './bad-input.js';
import { log } from './log.js';
import { numbers } from './numbers.js';
import { order } from './order.js';
import { readers } from './readers.js';
import { recovery } from './recovery.js';

export const sequenceCasesByTopic: Readonly<Record<string, readonly ConformanceCase[]>> = {
  'sequences: numbers': numbers,
  'sequences: order': order,
  'sequences: readers and trimming': readers,
  'sequences: recovery': recovery,
  'sequences: log and figures': log,
  'sequences: bad input': badInput,
};
