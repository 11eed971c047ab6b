// What recovery could not settle by itself and a person has to. Whoever may settles it: tried again, or given up for good.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { get } from '../../api/client.js';
import type { ManualItem, ManualPage } from '../../api/types.js';
import { may } from '../../state/session.js';
import { useAsked } from '../../state/asked.js';
import { Entries, Entry, Sentence } from '../../ui/entries.js';
import { Name } from '../../ui/name.js';
import { Button, Chip, ErrorNote, Panel } from '../../ui/parts.js';
import { Time } from '../../ui/time.js';
import { SettleDialog, type Act } from './settle-dialog.js';
import { countText, shown, spanOf } from './number-text.js';
import { Operation } from './operation.js';

const PAGE = 50;
const EVERY_MS = 5_000;
const MOST_KEPT_CHARS = 4_000;

export interface ManualPanelProps {
  readonly path: string;
  readonly count: number;
  readonly onChanged: () => void;
}

export function ManualPanel({ path, count, onChanged }: ManualPanelProps) {
  const chosen = useSignal<{ item: ManualItem; act: Act } | undefined>(undefined);
  const asked = useAsked(`${path} manual`, (stop) => get<ManualPage>(`${path}/manual`, { limit: PAGE }, stop), {
    everyMs: EVERY_MS,
  });
  const { value, error, again } = asked;
  const counted = useRef(count);
  useEffect(() => {
    if (counted.current !== count) again();
    counted.current = count;
  }, [count]);
  const items = value?.items ?? [];
  const close = (): void => {
    chosen.value = undefined;
  };
  if (count === 0 && items.length === 0 && !chosen.value) return null;
  return (
    <Panel title="Waiting for a person" aside={countText(count, 'number')}>
      {error !== undefined && <ErrorNote error={error} onRetry={again} />}
      <Entries label="Operations that wait for a person">
        {items.map((item) => (
          <ManualEntry
            key={item.operationId}
            item={item}
            onAct={(act) => {
              chosen.value = { item, act };
            }}
          />
        ))}
        {value?.more === true && (
          <li class="entry muted">These are the first {shown(items.length)}: settle some to see more.</li>
        )}
      </Entries>
      {chosen.value && (
        <SettleDialog
          {...chosen.value}
          path={path}
          onDone={() => {
            again();
            onChanged();
          }}
          onClose={close}
        />
      )}
    </Panel>
  );
}

function ManualEntry({ item, onAct }: { readonly item: ManualItem; readonly onAct: (act: Act) => void }) {
  const { number, count, operationId, kind, reason, attempts, lastError, createdAt, isRetryOrdered } = item;
  return (
    <Entry
      lead={spanOf(number, count)}
      about={
        <>
          <Operation kind={kind} id={operationId} most={40} />
          <span>{countText(attempts, 'attempt')}</span>
          <span>
            given up <Time at={createdAt} />
          </span>
        </>
      }
      aside={
        <>
          {isRetryOrdered && <Chip tone="accent">retry ordered</Chip>}
          {may('settleManual') && !isRetryOrdered && <Button onClick={() => onAct('retry')}>Retry</Button>}
          {may('settleManual') && (
            <Button kind="danger" onClick={() => onAct('discard')}>
              Discard
            </Button>
          )}
        </>
      }
    >
      <Sentence text={reason} />
      {lastError !== '' && lastError !== reason && (
        <div class="muted">
          last error: <Sentence text={lastError} most={400} />
        </div>
      )}
      <Kept item={item} />
    </Entry>
  );
}

/** What is kept of the work, as the text it is. */
function Kept({ item: { partial, finished } }: { readonly item: ManualItem }) {
  if (partial === undefined && finished === undefined) return null;
  const text = JSON.stringify(finished ?? partial) ?? '';
  return (
    <details class="kept">
      <summary>{finished === undefined ? 'Partial work is kept' : 'A finished result is kept'}</summary>
      <Name text={text} most={MOST_KEPT_CHARS} />
    </details>
  );
}
