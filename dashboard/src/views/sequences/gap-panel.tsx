// The gaps of a stream: what was given up, why, and whether its operation may still be stored here. Read a page at a time.
import { useSignal } from '@preact/signals';
import { get } from '../../api/client.js';
import type { Gap, GapPage } from '../../api/types.js';
import { useAsked } from '../../state/asked.js';
import { Entries, Entry, Sentence } from '../../ui/entries.js';
import { Button, Chip, ErrorNote, Loading, Panel } from '../../ui/parts.js';
import { Time } from '../../ui/time.js';
import { shown, spanOf } from './number-text.js';
import { Operation } from './operation.js';

const PAGE = 20;
const EVERY_MS = 5_000;

export function GapPanel({ path, count }: { readonly path: string; readonly count: number }) {
  /** Where each page that was looked at before this one began. */
  const before = useSignal<readonly number[]>([]);
  const after = before.value.at(-1) ?? 0;
  const asked = useAsked(
    `${path} gaps ${after}`,
    (stop) => get<GapPage>(`${path}/gaps`, { after, limit: PAGE }, stop),
    { everyMs: EVERY_MS },
  );
  const { value, error, again } = asked;
  const last = value?.items.at(-1)?.number;
  return (
    <Panel title="Gaps" aside={count === 0 ? 'none that is stored nowhere' : `${shown(count)} stored nowhere`}>
      {error !== undefined && <ErrorNote error={error} onRetry={again} />}
      {value === undefined && error === undefined && <Loading />}
      {value?.items.length === 0 && after === 0 && (
        <p class="muted">Every number that was settled has its operation.</p>
      )}
      {value !== undefined && value.items.length > 0 && (
        <Entries label="Gaps">
          {value.items.map((gap) => (
            <GapEntry key={gap.number} gap={gap} />
          ))}
        </Entries>
      )}
      {(after > 0 || value?.more === true) && (
        <div class="paging">
          <Button
            disabled={after === 0}
            onClick={() => {
              before.value = before.value.slice(0, -1);
            }}
          >
            Before
          </Button>
          <Button
            disabled={value?.more !== true || last === undefined}
            onClick={() => {
              if (last !== undefined) before.value = [...before.value, last];
            }}
          >
            After
          </Button>
        </div>
      )}
    </Panel>
  );
}

function GapEntry({ gap }: { readonly gap: Gap }) {
  const { number, count, reason, operationId, kind, createdAt, movedTo, sealed, fillable, hasResult } = gap;
  return (
    <Entry
      lead={spanOf(number, count)}
      about={
        <>
          <Operation kind={kind} id={operationId} />
          <Time at={createdAt} />
        </>
      }
      aside={
        <>
          {hasResult && <Chip>a result is kept</Chip>}
          {movedTo !== undefined && <Chip tone="accent">stored at {shown(movedTo)}</Chip>}
          {sealed ? <Chip>sealed</Chip> : fillable && <Chip tone="warn">may be filled</Chip>}
        </>
      }
    >
      <Sentence text={reason} />
    </Entry>
  );
}
