// Events as people read them: time, type and sentence, one event a line, made safe for a terminal.
import type { LeaseEvent } from '../index.js';
import { safe } from './escape.js';
import { broken } from './table.js';
import { utc } from './times.js';

const TYPE_COLUMNS = 16;

/** `2026-01-31 12:00:00Z  lease.acquired    Acquired orders/0, epoch 43, by worker-1` */
export function eventLine(event: LeaseEvent): string {
  return `${utc(event.at)}  ${event.type.padEnd(TYPE_COLUMNS)}  ${sentence(event)}`;
}

/** On a narrow terminal the sentence goes below its time. */
export function eventLines(event: LeaseEvent, width: number): string[] {
  const line = eventLine(event);
  if (line.length <= width) return [line];
  const further = '  ';
  const top = `${utc(event.at)}  ${event.type}`;
  return [...broken(top, width), ...broken(sentence(event), width, further, further)];
}

/** The sentence names the resource; who did it is said where the sentence leaves it out. */
function sentence(event: LeaseEvent): string {
  const text = safe(event.sentence);
  const owner = event.owner === undefined ? undefined : safe(event.owner);
  return owner === undefined || text.includes(owner) ? text : `${text}, by ${owner}`;
}
