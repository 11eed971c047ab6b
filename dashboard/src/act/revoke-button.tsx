// Asks to take a lease away, or somebody out of a queue. Not there for a role that may not. The dialog is `RevokeHost`'s.
import type { LeaseRecord } from '../api/types.js';
import { may } from '../state/session.js';
import { plainName } from '../ui/name-text.js';
import { Button } from '../ui/parts.js';
import { revoking } from './revoking.js';

export function RevokeButton({ record }: { readonly record: LeaseRecord }) {
  if (!may('revoke')) return null;
  const isTicket = record.status === 'pending';
  const name = plainName(record.parts[0]?.name ?? '');
  const label = isTicket
    ? `Remove ${plainName(record.owner)} from the queue of ${name}`
    : `Revoke ${name} from ${plainName(record.owner)}`;
  return (
    <Button
      kind={isTicket ? 'quiet' : 'danger'}
      aria-label={label}
      aria-haspopup="dialog"
      onClick={() => {
        revoking.value = record;
      }}
    >
      {isTicket ? 'Remove' : 'Revoke'}
    </Button>
  );
}
