// The live leases and tickets as signals. Events change the book at once; what is drawn from it is told once a frame, and less
// often the more there is to sort, so that five hundred changes a second leave the page smooth.
import { computed, signal, type ReadonlySignal } from '@preact/signals';
import type { LeaseEvent, LeaseRecord } from '../api/types.js';
import { Queues } from './queues.js';
import { RecordBook } from './record-book.js';
import { SortedRecords, type KeyOf } from './sorted-records.js';
import { witness } from './time.js';

export const book = new RecordBook();
const version = signal(0);
const listeners = new Set<(events: readonly LeaseEvent[]) => void>();

/** Live leases, by name. */
export const leases = live('active', nameOf);
/** Who waits, in order of arrival. */
export const tickets = live('pending', ({ acquiredAt }) => acquiredAt);
export const queues = computed(() => new Queues(tickets.value));
export const isTruncated = computed(() => version.value >= 0 && book.isFull);

/** For views that follow the log themselves. Answers how to stop. */
export function onEvents(listener: (events: readonly LeaseEvent[]) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function takeEvents(events: readonly LeaseEvent[]): void {
  for (const event of events) book.apply(event);
  const last = events.at(-1);
  if (last) witness(last.at);
  publish();
  for (const listener of listeners) {
    try {
      listener(events);
    } catch (error) {
      reportError(error); // one view's mistake is not the end of the stream
    }
  }
}

let isDue = false;
let publishedAt = -Infinity;

/** The book has changed. */
export function publish(): void {
  if (isDue) return;
  isDue = true;
  const waitMs = publishedAt + paceMs(book.records.size) - performance.now();
  if (waitMs > 0) setTimeout(() => requestAnimationFrame(tell), waitMs);
  else requestAnimationFrame(tell);
}

function tell(): void {
  isDue = false;
  publishedAt = performance.now();
  version.value += 1;
}

function paceMs(count: number): number {
  if (count < 1_000) return 0;
  return count < 5_000 ? 150 : 300;
}

function live(status: LeaseRecord['status'], keyOf: KeyOf): ReadonlySignal<readonly LeaseRecord[]> {
  const sorted = new SortedRecords(status, keyOf);
  return computed(() => (version.value < 0 ? [] : sorted.update(book.records)));
}

/** A lease is known by its first name. */
export function nameOf({ parts }: Pick<LeaseRecord, 'parts'>): string {
  return parts[0]?.name ?? '';
}
