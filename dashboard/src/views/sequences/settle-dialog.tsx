// Retry or discard, asked once more and answered in the server's words.
//
//   asking --confirmed--> acting --answered--> done (what came of it) | --refused, or no answer--> asking (what went wrong)
//
// A second click while it acts does nothing. An operation that somebody else has settled meanwhile is no failure: the server
// says that it is not in the queue any more, and so do we. Asking again after a lost answer is safe: it is done at most once.
import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { ApiError, post } from '../../api/client.js';
import type { ManualItem, ManualOutcome } from '../../api/types.js';
import { Dialog } from '../../ui/dialog.js';
import { Sentence } from '../../ui/entries.js';
import { Name } from '../../ui/name.js';
import { Button, ErrorNote } from '../../ui/parts.js';
import { settledText } from './settled-text.js';
import { spanOf } from './number-text.js';

export type Act = 'retry' | 'discard';

export interface SettleDialogProps {
  readonly path: string;
  readonly item: ManualItem;
  readonly act: Act;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function SettleDialog({ path, item, act, onDone, onClose }: SettleDialogProps) {
  const isActing = useRef(false);
  const state = useSignal<{ isBusy: boolean; said?: string; error?: unknown }>({ isBusy: false });
  const settle = (): void => {
    if (isActing.current || state.peek().said !== undefined) return;
    isActing.current = true;
    state.value = { isBusy: true };
    const told = (next: { said?: string; error?: unknown }): void => {
      isActing.current = false;
      state.value = { isBusy: false, ...next };
      onDone();
    };
    post<ManualOutcome>(`${path}/manual`, { operationId: item.operationId, act }).then(
      (outcome) => told({ said: settledText(outcome, item) }),
      (error: unknown) => {
        const isGone = error instanceof ApiError && error.status === 404;
        told(isGone ? { said: settledText(undefined, item) } : { error });
      },
    );
  };
  const { isBusy, said, error } = state.value;
  const isDiscard = act === 'discard';
  return (
    <Dialog
      title={isDiscard ? 'Discard this operation?' : 'Try this operation again?'}
      onClose={isBusy ? undefined : onClose}
    >
      <dl class="facts">
        <dt>Number</dt>
        <dd>{spanOf(item.number, item.count)}</dd>
        <dt>Operation</dt>
        <dd>
          <Name text={item.operationId} most={80} />
        </dd>
        <dt>Reason</dt>
        <dd>
          <Sentence text={item.reason} />
        </dd>
      </dl>
      <p>{isDiscard ? DISCARD : item.finished === undefined ? RETRY : STORE}</p>
      <div role="status">{said !== undefined && <p class="said">{said}</p>}</div>
      {error !== undefined && <ErrorNote error={error} />}
      <div class="ends">
        <Button disabled={isBusy} onClick={onClose}>
          {said === undefined ? 'Cancel' : 'Close'}
        </Button>
        {said === undefined && (
          <Button kind={isDiscard ? 'danger' : 'primary'} disabled={isBusy} onClick={settle}>
            {isBusy ? 'Asking…' : isDiscard ? 'Discard' : 'Try again'}
          </Button>
        )}
      </div>
    </Dialog>
  );
}

const DISCARD =
  'The operation is given up for good. What is kept of its work is deleted, and its number stays a gap. This cannot be undone.';
const RETRY =
  'The next process that recovers operations of this kind takes it. Until one does, it stays in this list as ordered.';
const STORE =
  'Its finished result is stored at once: under its own number, or under a new one where readers have passed the gap.';
