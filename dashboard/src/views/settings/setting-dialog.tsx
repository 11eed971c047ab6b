// One setting being changed. One request at a time; what was typed stays until it is taken or given up.
import { useSignal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { patch } from '../../api/client.js';
import type { SettingRule, Settings } from '../../api/types.js';
import { Dialog } from '../../ui/dialog.js';
import { Name } from '../../ui/name.js';
import { Button, errorText } from '../../ui/parts.js';
import { shownValue, typedValue } from './setting-value.js';

export interface SettingDialogProps {
  readonly rule: SettingRule;
  /** As it is now, also while the dialog is open. */
  readonly value: unknown;
  /** With the value that was saved, if one was. */
  readonly onClose: (saved?: unknown) => void;
}

export function SettingDialog({ rule, value, onClose }: SettingDialogProps) {
  const text = useSignal(value === '' ? '' : shownValue(value));
  const error = useSignal<unknown>(undefined);
  const isSending = useSignal(false);
  const told = useId();
  const save = async (): Promise<void> => {
    const settings = await patch<Settings>('/v1/config', { [rule.key]: typedValue(text.peek(), rule) });
    onClose(settings[rule.key]);
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (isSending.peek()) return;
    isSending.value = true;
    error.value = undefined;
    save()
      .catch((thrown: unknown) => {
        error.value = thrown;
      })
      .finally(() => {
        isSending.value = false;
      });
  };
  const set = (event: { readonly currentTarget: { readonly value: string } }): void => {
    text.value = event.currentTarget.value;
  };
  return (
    <Dialog title={<code class="title">{rule.key}</code>} onClose={() => onClose()}>
      <form class="stack" onSubmit={submit}>
        <p>{rule.about}</p>
        <dl class="facts">
          <dt>Now</dt>
          <dd>{value === '' ? 'empty' : <Name text={String(value)} most={120} />}</dd>
          <dt>Default</dt>
          <dd>{shownValue(rule.default)}</dd>
          <dt>Takes</dt>
          <dd id={told}>{rule.allowed}</dd>
        </dl>
        <label class="field">
          <span>New value</span>
          {rule.choices ? (
            <select class="input" autoFocus value={text.value} onChange={set}>
              {rule.choices.map((choice) => (
                <option key={String(choice)} value={String(choice)}>
                  {String(choice)}
                </option>
              ))}
            </select>
          ) : (
            <input
              class="input"
              autoFocus
              spellcheck={false}
              autocomplete="off"
              aria-describedby={told}
              aria-invalid={error.value !== undefined}
              value={text.value}
              onInput={set}
            />
          )}
        </label>
        {error.value !== undefined && (
          <p class="note" role="alert">
            {/* The sentence begins with the name of the setting: not written large. */}
            {error.value instanceof Error ? error.value.message : errorText(error.value)}
          </p>
        )}
        <p class="muted">For what is taken from now on, by everybody; leases that are held keep what they have.</p>
        <div class="ends">
          <Button
            kind="quiet"
            disabled={isSending.value}
            onClick={() => {
              text.value = String(rule.default);
            }}
          >
            Default
          </Button>
          <Button disabled={isSending.value} onClick={() => onClose()}>
            Cancel
          </Button>
          <Button kind="primary" type="submit" disabled={isSending.value}>
            {isSending.value ? 'Saving…' : 'Save'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
