// Taking a token back, by its id. Gone already is as good as done.
import { useSignal } from '@preact/signals';
import { ApiError, remove } from '../../api/client.js';
import type { Token } from '../../api/types.js';
import { hrefOf } from '../../router.js';
import { who } from '../../state/session.js';
import { Dialog } from '../../ui/dialog.js';
import { Name } from '../../ui/name.js';
import { Button, ErrorNote } from '../../ui/parts.js';

export function RevokeToken({ token, onClose }: { readonly token: Token; readonly onClose: () => void }) {
  const error = useSignal<unknown>(undefined);
  const isSending = useSignal(false);
  const isMine = who.value?.tokenId === token.id;
  const act = (): void => {
    if (isSending.peek()) return;
    isSending.value = true;
    error.value = undefined;
    remove<Token>(`/v1/tokens/${encodeURIComponent(token.id)}`).then(onClose, (thrown: unknown) => {
      if (thrown instanceof ApiError && thrown.status === 404) onClose();
      error.value = thrown;
      isSending.value = false;
    });
  };
  return (
    <Dialog
      title={
        <>
          Revoke token <Name text={token.name} most={36} />
        </>
      }
      onClose={onClose}
    >
      {isMine && <p class="caution">This is the token you are signed in with: you will be signed out.</p>}
      <ul class="will">
        <li>Within a second its requests are refused, and what waits or listens with it ends.</li>
        <li>
          Leases it took stay until they run out or are revoked
          {token.owner !== undefined && (
            <>
              : <a href={hrefOf('/now', { owner: token.owner })}>see what its owner holds</a>
            </>
          )}
          .
        </li>
        <li>It cannot be brought back; make another one instead.</li>
      </ul>
      {error.value !== undefined && <ErrorNote error={error.value} />}
      <div class="ends">
        <Button onClick={onClose} disabled={isSending.value}>
          Cancel
        </Button>
        <Button kind="danger" onClick={act} disabled={isSending.value}>
          {isSending.value ? 'Under way…' : 'Revoke'}
        </Button>
      </div>
    </Dialog>
  );
}
