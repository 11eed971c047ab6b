// Who is in the way of a file lease, in the words of paths: a refusal with one conflict for each path and holder that
// meet, and one line for each conflict. Where a folder was asked for, the path is what is held inside it.
import { conflicts } from '../domain/conflict.js';
import { formatDuration } from '../domain/duration.js';
import { LeaseError } from '../domain/errors.js';
import type { LeaseRecord } from '../domain/lease.js';
import { normaliseParts, type Mode, type Part, type PartDefaults } from '../domain/part.js';
import { isAbove } from '../domain/resource-name.js';
import type { Refusal } from '../manager/face.js';
import { placeOf, type FilePlace } from './file-name.js';
import type { FileParts } from './file-root.js';

export interface FileConflict extends FilePlace {
  /** What the holder has: this place, a folder above it, or, above the root, a resource. */
  readonly heldAs: string;
  readonly leaseId: string;
  readonly owner: string;
  readonly epoch: number;
  readonly mode: Mode;
  /** When the lease ends unless it is renewed: store clock, ISO text. */
  readonly until: string;
}

export interface FileRefusal extends Refusal {
  /** What was asked for, seen from the root. */
  readonly asked: readonly FilePlace[];
  /** One for each path and holder that meet; none when nobody holds, but a queue or a block stands in the way. */
  readonly conflicts: readonly FileConflict[];
}

/** A part of something else goes by its own name. */
function seenFrom(base: string, name: string): FilePlace {
  return placeOf(base, name) ?? { path: name };
}

export function toFileRefusal(refusal: Refusal, { base, parts }: FileParts, defaults: PartDefaults): FileRefusal {
  const asked = normaliseParts(parts, defaults);
  return {
    ...refusal,
    asked: asked.map((part) => seenFrom(base, part.name)),
    conflicts: refusal.holders.flatMap((holder) => conflictsWith(holder, asked, base)),
  };
}

function conflictsWith(holder: LeaseRecord, asked: readonly Part[], base: string): FileConflict[] {
  const found: FileConflict[] = [];
  for (const part of asked) {
    for (const held of holder.parts) {
      if (!conflicts(part, held) && part.name !== held.name) continue;
      found.push({
        ...seenFrom(base, isAbove(part.name, held.name) ? held.name : part.name),
        heldAs: isAbove(held.name, base) ? held.name : shownPlace(seenFrom(base, held.name)),
        leaseId: holder.id,
        owner: holder.owner,
        epoch: holder.epoch,
        mode: held.mode,
        until: holder.expiresAt,
      });
    }
  }
  return found;
}

/** The same error with the refusal in the words of paths, a line each; any other error as it is. */
export function toFileError(error: unknown, parts: FileParts, defaults: PartDefaults): unknown {
  if (!(error instanceof LeaseError) || !isRefusal(error.details['refusal'])) return error;
  const refusal = toFileRefusal(error.details['refusal'], parts, defaults);
  const message = [error.message, ...describeConflicts(refusal)].join('\n  ');
  const { code, retryable, details } = error;
  return new LeaseError(code, message, { details: { ...details, refusal }, cause: error, retryable });
}

function isRefusal(value: unknown): value is Refusal {
  return typeof value === 'object' && value !== null && 'holders' in value;
}

/** One line for each conflict, naming path, holder and until when. Safe to print: nothing in it moves a cursor. */
export function describeConflicts(refusal: FileRefusal): string[] {
  const { asked, conflicts: found, holders, holderCount, queueLength, reason, retryAfterMs } = refusal;
  const lines = found.map(lineOf);
  const hidden = holderCount - holders.length;
  if (hidden > 0) lines.push(`${hidden} more ${hidden === 1 ? 'lease is' : 'leases are'} in the way`);
  const all = asked.map(shownPlace).join(', ');
  if (queueLength > 0) lines.push(`${all}: ${queueLength} ahead in the queue`);
  if (lines.length === 0) lines.push(`${all}: not free for ${formatDuration(retryAfterMs)} at least (${reason})`);
  return lines.map(printable);
}

function lineOf(conflict: FileConflict): string {
  const held = conflict.mode === 'shared' ? 'held (shared)' : 'held';
  const place = shownPlace(conflict);
  const through = conflict.heldAs === place ? '' : ` (all of ${conflict.heldAs})`;
  return `${place} is ${held} by ${conflict.owner} until ${conflict.until}${through}`;
}

function shownPlace({ path, section }: FilePlace): string {
  return section === undefined ? path : `${path} (section ${section})`;
}

/** File names may hold line breaks, escape sequences and marks that turn the direction of writing. */
function printable(line: string): string {
  return line.replace(
    /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu,
    (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}
