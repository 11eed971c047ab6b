// What one client sees of the log: the bounds of its token (W3), and what it asked for. Events become text here, one JSON
// document each under its position, in the words of server-sent events.
import type { LeaseEvent } from '../domain/events.js';
import { visibleEvent } from './access/redact.js';
import { isWithin } from './access/rules.js';

export interface EventView {
  /** The same for clients that see the same; undefined for those that see all. */
  readonly key?: string;
  /** The prefix the token is bound to. */
  readonly bound?: string | undefined;
  readonly prefix?: string | undefined;
  readonly type?: string | undefined;
}

export function viewOf(asked: Omit<EventView, 'key'>): EventView {
  const { bound, prefix, type } = asked;
  const isAll = bound === undefined && prefix === undefined && type === undefined;
  return isAll ? {} : { key: JSON.stringify([bound, prefix, type]), bound, prefix, type };
}

/** Undefined for an event that is not in the view. That some are lost is told to everybody. */
export function textOf(event: LeaseEvent, { bound, prefix, type }: EventView): string | undefined {
  const isLoss = event.type === 'events.lost';
  if (!isLoss && type !== undefined && event.type !== type) return undefined;
  if (!isLoss && prefix !== undefined && !namesOf(event).some((name) => isWithin(prefix, name))) return undefined;
  const seen = visibleEvent(bound, event);
  return seen && `id: ${seen.id}\ndata: ${JSON.stringify(seen)}\n\n`;
}

function namesOf({ resource, resources }: LeaseEvent): readonly string[] {
  return resources ?? (resource === undefined ? [] : [resource]);
}
