// What an operation that nobody heard the answer of may have done, at any moment after it was sent: every state that may
// follow, none when it did nothing (which is allowed anyway: such an operation need not take effect at all). The moment is
// unknown, so what follows from it is a range (history-linear-state.ts).
import { asShared } from '../../domain/part.js';
import { TICKET_LIFE_MS } from '../../domain/limits.js';
import type { AcquireRequest, ChangeRequest } from '../../domain/requests.js';
import { handedUnheard } from './history-linear-handed.js';
import type { Operation } from './history-linear-operations.js';
import { freeAt, highestOn, isFree, obstacles } from './history-linear-rules.js';
import { claimantOf, heldEntry, queued, spend, withAskedEpoch } from './history-linear-spec.js';
import { livesAt, noted, withEntry, type Entry, type State } from './history-linear-state.js';

export function unanswered(state: State, operation: Operation): State[] {
  if (operation.op === 'acquire') return acquireUnheard(state, operation.asked);
  const known = state.entries.get(operation.asked.id);
  if (operation.op === 'end') {
    if (!known) return [noted(state, operation.asked.id)];
    if (known.status === 'waiting') return [withEntry(state, { ...known, status: 'failed' })];
  }
  if (known?.status !== 'held' || livesAt(known, state.now) === 'no') return [];
  switch (operation.op) {
    case 'end': {
      const told = withAskedEpoch(known, operation.asked.epoch);
      if (!told) return [];
      const after = withEntry(state, { ...told, status: 'released' });
      return [after, ...handedUnheard(after)];
    }
    case 'renew': {
      const told = withAskedEpoch(known, operation.asked.epoch);
      const ttlMs = operation.asked.ttlMs ?? known.ttlMs;
      const openMs = Math.max(ttlMs, known.openMs ?? 0);
      return told ? [withEntry(state, { ...told, ttlMs, openMs, renewals: undefined })] : [];
    }
    case 'change':
      return changeUnheard(state, known, operation.asked);
    case 'revoke':
      return [withEntry(state, { ...known, status: 'revoked' })];
  }
}

function acquireUnheard(state: State, asked: AcquireRequest): State[] {
  const known = state.entries.get(asked.id);
  if (known && known.status !== 'waiting') return [];
  const claimant = claimantOf(state, asked);
  if (asked.upgrades && (claimant.upgrades?.status !== 'held' || claimant.upgrades.epoch !== asked.upgrades.epoch))
    return [];
  const now = freeAt(state, claimant);
  const after: State[] = [];
  if (now !== undefined) after.push(grantUnheard({ ...state, now }, asked));
  if (asked.upgrades) return after;
  if ((known || asked.join) && !isFree(obstacles(state, claimant, state.now, 'possible'))) {
    const waiting = queued(state, asked, known, state.now, state.now + TICKET_LIFE_MS);
    const ticket = waiting.entries.get(asked.id) as Entry;
    after.push(withEntry(waiting, { ...ticket, lo: known?.lo ?? ticket.lo, openMs: TICKET_LIFE_MS }));
  }
  return after;
}

function grantUnheard(state: State, asked: AcquireRequest): State {
  const above = highestOn(state, asked.parts);
  const own = asked.upgrades && state.entries.get(asked.upgrades.id);
  if (own) return spend(state, asked, { ...own, epoch: undefined, above });
  const lease = heldEntry(asked, 0, state.now + asked.ttlMs);
  return withEntry(state, { ...lease, epoch: undefined, above, openMs: asked.ttlMs });
}

function changeUnheard(state: State, known: Entry, asked: ChangeRequest): State[] {
  const told = withAskedEpoch(known, asked.epoch);
  if (!told) return [];
  if (asked.kind === 'downgrade') return [withEntry(state, { ...told, parts: asShared(known.parts) })];
  const heir = { owner: asked.toOwner, epoch: undefined, above: highestOn(state, known.parts), isFirstEpoch: false };
  return [withEntry(state, { ...told, ...heir })];
}
