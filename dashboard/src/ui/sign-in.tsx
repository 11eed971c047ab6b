// Asks for a token. It is kept in the memory of this tab and sent in the Authorization header; closing the tab forgets it.
import { useSignal } from '@preact/signals';
import { hasToken } from '../api/client.js';
import { signIn } from '../state/session.js';
import { Dialog } from './dialog.js';
import { Button, Code, errorText } from './parts.js';

export function SignIn({ why }: { readonly why: string }) {
  const text = useSignal('');
  const submit = (event: Event): void => {
    event.preventDefault();
    const token = text.value.trim();
    if (token !== '') signIn(token);
  };
  return (
    <Dialog title="Sign in with a token">
      {hasToken() ? (
        <p class="note" role="alert">
          {errorText(why)}
        </p>
      ) : (
        <p>{errorText(why)}</p>
      )}
      <p class="muted">It stays in the memory of this tab only. An admin makes one with:</p>
      <Code>holdfast token create my-page --role read</Code>
      <form class="stack" onSubmit={submit}>
        <label class="field">
          <span>Token</span>
          <input
            class="input"
            type="password"
            name="token"
            autocomplete="off"
            spellcheck={false}
            placeholder="hf_…"
            autofocus
            value={text.value}
            onInput={(event) => {
              text.value = event.currentTarget.value;
            }}
          />
        </label>
        <div class="ends">
          <Button kind="primary" type="submit" disabled={text.value.trim() === ''}>
            Sign in
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
