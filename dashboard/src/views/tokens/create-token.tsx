// A new token: its name, what it may do, and its bounds. One request at a time; an answer that never came may have made it, which the
// server tells at the next try ("a token of this name stands").
import { useSignal, type Signal } from '@preact/signals';
import { post } from '../../api/client.js';
import type { MadeToken, NewToken, Role } from '../../api/types.js';
import { who } from '../../state/session.js';
import { Dialog } from '../../ui/dialog.js';
import { Button, ErrorNote } from '../../ui/parts.js';

const ROLES: readonly (readonly [Role, string])[] = [
  ['read', 'read: looks'],
  ['write', 'write: also holds leases and numbers'],
  ['admin', 'admin: also revokes, sets, makes tokens'],
];
const LIVES = [
  ['', 'When it is revoked'],
  ['1h', 'In an hour'],
  ['1d', 'In a day'],
  ['7d', 'In a week'],
  ['30d', 'In 30 days'],
  ['90d', 'In 90 days'],
] as const;

export interface CreateTokenProps {
  /** The first one shuts the door for everybody without one. */
  readonly isFirst: boolean;
  readonly onClose: () => void;
  readonly onMade: (token: MadeToken) => void;
}

export function CreateToken({ isFirst, onClose, onMade }: CreateTokenProps) {
  const name = useSignal('');
  const role = useSignal<Role>(isFirst ? 'admin' : 'read');
  const prefix = useSignal(who.peek()?.prefix ?? '');
  const owner = useSignal('');
  const expiresIn = useSignal('');
  const error = useSignal<unknown>(undefined);
  const isSending = useSignal(false);
  const make = async (): Promise<void> => {
    const bounds = { prefix: prefix.peek(), owner: owner.peek(), expiresIn: expiresIn.peek() };
    const given = Object.fromEntries(Object.entries(bounds).filter(([, text]) => text !== ''));
    const wanted: NewToken = { name: name.peek().trim(), role: role.peek(), ...given };
    onMade(await post<MadeToken>('/v1/tokens', wanted));
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (isSending.peek()) return;
    isSending.value = true;
    error.value = undefined;
    make().catch((thrown: unknown) => {
      error.value = thrown;
      isSending.value = false;
    });
  };
  return (
    <Dialog title="Create a token" onClose={onClose}>
      <form class="stack" onSubmit={submit}>
        {isFirst && (
          <p class="caution">
            This is the first token. From then on nobody gets in without one, this page neither: you will be asked for
            it.
          </p>
        )}
        <TextField label="Name, for people" value={name} isFirst />
        <label class="field">
          <span>Role</span>
          <select
            class="input"
            value={role.value}
            onChange={(event) => {
              role.value = event.currentTarget.value as Role;
            }}
          >
            {ROLES.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <TextField label="Only this name and all below it (may be empty)" value={prefix} placeholder="ci/builds" />
        <TextField label="Only as this owner (may be empty)" value={owner} placeholder="ci-7" />
        <label class="field">
          <span>Ends</span>
          <select
            class="input"
            value={expiresIn.value}
            onChange={(event) => {
              expiresIn.value = event.currentTarget.value;
            }}
          >
            {LIVES.map(([value, text]) => (
              <option key={value} value={value}>
                {text}
              </option>
            ))}
          </select>
        </label>
        {error.value !== undefined && <ErrorNote error={error.value} />}
        <div class="ends">
          <Button onClick={onClose} disabled={isSending.value}>
            Cancel
          </Button>
          <Button kind="primary" type="submit" disabled={isSending.value}>
            {isSending.value ? 'Making…' : 'Create'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface TextFieldProps {
  readonly label: string;
  readonly value: Signal<string>;
  readonly placeholder?: string;
  readonly isFirst?: boolean;
}

function TextField({ label, value, placeholder, isFirst = false }: TextFieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        class="input"
        spellcheck={false}
        autocomplete="off"
        required={isFirst}
        autoFocus={isFirst}
        placeholder={placeholder}
        value={value.value}
        onInput={(event) => {
          value.value = event.currentTarget.value;
        }}
      />
    </label>
  );
}
