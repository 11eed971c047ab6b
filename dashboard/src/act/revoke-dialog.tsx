// The confirmation of a revocation: what is held, by whom, whether it looks alive, who comes next, and what will happen. It
// follows the lease while it is open. One order goes out at a time, however often the button or Enter is pressed.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { get, post } from '../api/client.js';
import type { LeaseRecord, Lookup, ResourceView, Revoked } from '../api/types.js';
import { useAsked } from '../state/asked.js';
import { nameOf } from '../state/records.js';
import { storeNow } from '../state/time.js';
import { Dialog } from '../ui/dialog.js';
import { Name } from '../ui/name.js';
import { Button, ErrorNote } from '../ui/parts.js';
import { changeOf, isLive, revoke, type RevokeEnd, type Wish } from './revoke-steps.js';
import { RevokeFacts, RevokeOutcome } from './revoke-facts.js';
import { revoking } from './revoking.js';
import './revoke.css';

const LOOK_MS = 2_000;
const KEEP_OUT = [
  ['', 'Not at all'],
  ['1m', 'For a minute'],
  ['10m', 'For ten minutes'],
  ['1h', 'For an hour'],
] as const;

export function RevokeDialog() {
  const record = revoking.value;
  return record ? <Confirmation first={record} /> : <></>;
}

function Confirmation({ first }: { readonly first: LeaseRecord }) {
  /** What the one who confirms has in sight. */
  const shown = useSignal(first);
  const end = useSignal<RevokeEnd | undefined>(undefined);
  const error = useSignal<unknown>(undefined);
  const isSending = useSignal(false);
  const reason = useSignal('');
  const keepOut = useSignal('');
  const name = nameOf(first);
  const isTicket = first.status === 'pending';
  const around = useAsked(`around ${first.id}`, (stop) => aroundOf(name, first.id, stop), { everyMs: LOOK_MS });
  const isOver = end.value?.is === 'done' || end.value?.is === 'gone';
  useEffect(() => {
    const fresh = around.value?.lease;
    // While an order is under way the answer to it decides.
    if (around.value && !isSending.peek() && !isOver) {
      const why = fresh && isLive(fresh) ? changeOf(shown.peek(), fresh, storeNow()) : undefined;
      if (!fresh || !isLive(fresh)) end.value = { is: 'gone', record: fresh };
      else shown.value = fresh;
      if (fresh && why !== undefined) end.value = { is: 'changed', record: fresh, why };
    }
  }, [around.value]);
  const close = (): void => {
    if (!isSending.peek()) revoking.value = undefined;
  };
  const act = async (wish: Wish): Promise<void> => {
    const look = async (): Promise<LeaseRecord | undefined> => (await lookUp(first.id)).items[0];
    const result = await revoke(shown.peek(), wish, {
      look,
      now: storeNow,
      send: (order) => post<Revoked>('/v1/revocations', order),
    });
    end.value = result;
    if (result.record) shown.value = result.record;
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (isSending.peek() || isOver) return;
    isSending.value = true;
    error.value = undefined;
    end.value = undefined;
    act({ reason: reason.peek(), ...(keepOut.peek() === '' ? {} : { keepOut: keepOut.peek() }) })
      .catch((thrown: unknown) => {
        error.value = thrown;
      })
      .finally(() => {
        isSending.value = false;
        around.again();
      });
  };
  return (
    <Dialog
      title={
        <>
          {isTicket ? 'Remove from the queue of ' : 'Revoke '}
          <Name text={name} most={48} />
        </>
      }
      onClose={close}
    >
      <form class="revoke" onSubmit={submit}>
        {!isOver && <RevokeFacts record={shown.value} name={name} view={around.value?.view} />}
        <div role="status" aria-live="polite">
          {end.value && <RevokeOutcome end={end.value} isTicket={isTicket} name={name} view={around.value?.view} />}
        </div>
        {error.value !== undefined && <ErrorNote error={error.value} />}
        {!isOver && (
          <>
            <label class="field">
              <span>Reason, kept in the history</span>
              <input
                class="input"
                required
                maxLength={512}
                autoFocus
                value={reason.value}
                onInput={(event) => {
                  reason.value = event.currentTarget.value;
                }}
              />
            </label>
            <label class="field">
              <span>
                Keep <Name text={shown.value.owner} most={24} /> out of it afterwards
              </span>
              <select
                class="input"
                value={keepOut.value}
                onChange={(event) => {
                  keepOut.value = event.currentTarget.value;
                }}
              >
                {KEEP_OUT.map(([value, text]) => (
                  <option key={value} value={value}>
                    {text}
                  </option>
                ))}
              </select>
            </label>
          </>
        )}
        <div class="ends">
          {isOver ? (
            <CloseButton onClose={close} />
          ) : (
            <>
              <Button onClick={close} disabled={isSending.value}>
                Cancel
              </Button>
              <Button kind="danger" type="submit" disabled={isSending.value}>
                {isSending.value ? 'Under way…' : isTicket ? 'Remove' : 'Revoke'}
              </Button>
            </>
          )}
        </div>
      </form>
    </Dialog>
  );
}

/** The button that was pressed is gone: the focus goes to the one that is left. */
function CloseButton({ onClose }: { readonly onClose: () => void }) {
  const button = useRef<HTMLSpanElement>(null);
  useEffect(() => button.current?.querySelector('button')?.focus(), []);
  return (
    <span ref={button}>
      <Button onClick={onClose}>Close</Button>
    </span>
  );
}

interface Around {
  readonly lease: LeaseRecord | undefined;
  readonly view: ResourceView;
}

async function aroundOf(name: string, id: string, stop: AbortSignal): Promise<Around> {
  const [{ items }, view] = await Promise.all([lookUp(id, stop), get<ResourceView>('/v1/resource', { name }, stop)]);
  return { lease: items[0], view };
}

function lookUp(id: string, stop?: AbortSignal): Promise<Lookup> {
  return get<Lookup>('/v1/lookup', { ids: id }, stop);
}
