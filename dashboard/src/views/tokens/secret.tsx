// The secret of a token that was just made: shown once, copied by hand or by button, gone when this is closed.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import type { MadeToken } from '../../api/types.js';
import { Dialog } from '../../ui/dialog.js';
import { Name } from '../../ui/name.js';
import { Button } from '../../ui/parts.js';

export function Secret({ token, onClose }: { readonly token: MadeToken; readonly onClose: () => void }) {
  const said = useSignal('');
  const field = useRef<HTMLInputElement>(null);
  const copy = (): void => {
    field.current?.select();
    // Without a secure context there is no clipboard: the text is selected, and the keys do it.
    const copied =
      (navigator.clipboard as Clipboard | undefined)?.writeText(token.secret) ?? Promise.reject(new Error());
    copied.then(
      () => {
        said.value = 'Copied.';
      },
      () => {
        said.value = 'Not copied: it is selected, press Ctrl+C.';
      },
    );
  };
  return (
    // Only its button closes it: a slip of the mouse would lose the secret.
    <Dialog
      title={
        <>
          Token <Name text={token.name} most={36} />
        </>
      }
    >
      <p>
        This is the only time it is shown. Hand it on as you would a password; it goes into the{' '}
        <code>Authorization</code> header or <code>HOLDFAST_TOKEN</code>, never into an address.
      </p>
      <label class="field">
        <span>Secret, role {token.role}</span>
        <input
          class="input secret"
          readOnly
          ref={field}
          value={token.secret}
          onFocus={(event) => event.currentTarget.select()}
        />
      </label>
      <div class="ends">
        <span class="muted said-beside" role="status">
          {said.value}
        </span>
        <Button kind="primary" onClick={copy}>
          Copy
        </Button>
        <Button onClick={onClose}>I have it</Button>
      </div>
    </Dialog>
  );
}
