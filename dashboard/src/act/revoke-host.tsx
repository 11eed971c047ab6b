// Where the dialog of a revocation appears, once on the page. What is in it is loaded when it is first needed.
import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { Dialog } from '../ui/dialog.js';
import { Button } from '../ui/parts.js';
import { revoking } from './revoking.js';

export function RevokeHost() {
  const record = revoking.value;
  return record ? <Loaded key={record.id} /> : null;
}

function Loaded() {
  const part = useSignal<{ Dialog?: () => JSX.Element; isMissing?: true }>({});
  useEffect(() => {
    import('./revoke-dialog.js').then(
      ({ RevokeDialog }) => {
        part.value = { Dialog: RevokeDialog };
      },
      () => {
        part.value = { isMissing: true };
      },
    );
  }, []);
  const { Dialog: Part, isMissing } = part.value;
  if (Part) return <Part />;
  return isMissing === true ? <Missing /> : null;
}

function Missing() {
  const close = (): void => {
    revoking.value = undefined;
  };
  return (
    <Dialog title="Not loaded" onClose={close}>
      <p>This part of the page could not be loaded: the server is away, or it was updated. Nothing was revoked.</p>
      <div class="ends">
        <Button onClick={close}>Close</Button>
        <Button kind="primary" onClick={() => location.reload()}>
          Reload the page
        </Button>
      </div>
    </Dialog>
  );
}
