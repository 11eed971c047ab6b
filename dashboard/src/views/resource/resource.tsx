// One resource: who holds it, who waits in which order, who had it before and how that ended, what happened lately, and who waits for
// whom when something is stuck.
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { LeaseRecord, ResourceView } from '../../api/types.js';
import { hrefOf, navigate, place, resourceHref } from '../../router.js';
import { leases } from '../../state/records.js';
import { tick } from '../../state/time.js';
import { Name } from '../../ui/name.js';
import { isNarrow } from '../../ui/narrow.js';
import { Button, EmptyState, ErrorNote, Loading, Panel, ViewHead } from '../../ui/parts.js';
import { spanText } from '../../ui/time-text.js';
import { EventTable } from '../history/event-table.js';
import { useHistory } from '../history/use-history.js';
import { Holders } from './holders.js';
import { Queue } from './queue.js';
import { Timeline } from './timeline-list.js';
import { useResource } from './use-resource.js';
import { WaitChains } from './wait-chain-list.js';
import './resource.css';

export function Resource() {
  const { name = '' } = place.value.query;
  return name === '' ? <Which /> : <One key={name} name={name} />;
}

function One({ name }: { readonly name: string }) {
  const { value: view, error, again } = useResource(name);
  const filter = useMemo(() => ({ resource: name }), [name]);
  const history = useHistory(filter, true);
  return (
    <div class="view resource">
      <ViewHead
        title={<Name text={name} most={96} />}
        aside={view && <Summary view={view} />}
        actions={
          <a class="button" href={hrefOf('/history', { resource: name })}>
            Whole history
          </a>
        }
      />
      {error !== undefined && <ErrorNote error={error} onRetry={again} />}
      {!view && error === undefined && <Loading />}
      {view && <Holders name={name} view={view} />}
      {view && view.queue.length > 0 && <WaitChains name={name} waiting={view.queue.length} />}
      {view && view.queue.length > 0 && <Queue queue={view.queue} />}
      {view && <Timeline history={history} holders={view.holders} />}
      {history.error !== undefined && <ErrorNote error={history.error} onRetry={history.again} />}
      {history.items.length > 0 && (
        <Panel title="Recent events">
          <div class="framed" style={{ blockSize: heightOf(history.items.length) }}>
            <EventTable label="Recent events, newest first" events={history.items} isOfOne />
          </div>
        </Panel>
      )}
    </div>
  );
}

function heightOf(count: number): string {
  return `${Math.min(8, count) * (isNarrow.value ? 58 : 40) + 38}px`;
}

function Summary({ view }: { readonly view: ResourceView }) {
  const { holderCount, queueLength, blockedMs } = view;
  const held = holderCount === 0 ? 'free' : holderCount === 1 ? 'held' : `${holderCount} holders`;
  const waiting = queueLength === 0 ? '' : `, ${queueLength.toLocaleString()} waiting`;
  const blocked = holderCount === 0 && blockedMs > 0 ? `, kept free for ${spanText(blockedMs)} more` : '';
  return <>{`${held}${waiting}${blocked}`}</>;
}

/** The view without a name: what is there to be looked at. */
function Which() {
  const name = useSignal('');
  const known = useMemo(() => firstNames(leases.value), [leases.value]);
  const go = (event: Event): void => {
    event.preventDefault();
    if (name.value !== '') navigate(resourceHref(name.value));
  };
  return (
    <div class="view">
      <ViewHead title="Resource" />
      <EmptyState title="Which resource?">
        <form class="row" onSubmit={go}>
          <label class="field">
            <span>Name</span>
            <input
              class="input"
              data-filter
              list="known-names"
              spellcheck={false}
              value={name.value}
              onInput={(event) => {
                name.value = event.currentTarget.value;
              }}
            />
          </label>
          <datalist id="known-names">
            {known.map((text) => (
              <option key={text} value={text} />
            ))}
          </datalist>
          <Button kind="primary" type="submit" disabled={tick.value === 0}>
            Show
          </Button>
        </form>
        <p>
          <a href="/now">Everything that is held now</a>
        </p>
      </EmptyState>
    </div>
  );
}

const MOST_NAMES = 200;

function firstNames(records: readonly LeaseRecord[]): string[] {
  return [...new Set(records.slice(0, MOST_NAMES).flatMap(({ parts }) => parts.map((part) => part.name)))];
}
