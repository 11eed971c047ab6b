// What happened: searched by resource, owner, lease, type and time, all of it in the address; read back in pages, followed live if
// wanted, and taken away as CSV or JSON.
import { place, setQuery } from '../../router.js';
import type { LeaseEvent } from '../../api/types.js';
import { connection } from '../../state/connection.js';
import { storeNow } from '../../state/time.js';
import { FilterField } from '../../ui/filter-field.js';
import { Button, EmptyState, ErrorNote, Loading, ViewHead } from '../../ui/parts.js';
import { EventTable } from './event-table.js';
import { ExportButtons } from './export-buttons.js';
import { EVENT_TYPES, fieldOf, filterOf, isoOf } from './history-filter.js';
import { useHistory, type ReadHistory } from './use-history.js';
import './history.css';

const HOUR_MS = 3_600_000;
const SPANS = [
  ['Last hour', HOUR_MS],
  ['Last day', 24 * HOUR_MS],
] as const;

export function History() {
  const { query } = place.value;
  const filter = filterOf(query);
  const isLive = query['live'] !== 'off' && filter.until === undefined;
  const history = useHistory(filter, isLive);
  return (
    <div class="view">
      <ViewHead title="History" aside={<Shown history={history} />} actions={<ExportButtons filter={filter} />} />
      <Filters isLive={isLive} isBounded={filter.until !== undefined} />
      {history.error !== undefined && <ErrorNote error={history.error} onRetry={history.again} />}
      <Body history={history} isFiltered={Object.keys(filter).length > 0} />
    </div>
  );
}

function Shown({ history: { items, cursor, isAsking } }: { readonly history: ReadHistory }) {
  if (isAsking && items.length === 0) return <>…</>;
  const count = items.length.toLocaleString();
  return <>{cursor === undefined ? `${count} events` : `the last ${count} events`}</>;
}

function Body({ history, isFiltered }: { readonly history: ReadHistory; readonly isFiltered: boolean }) {
  const { items, cursor, isAsking, error, older } = history;
  if (items.length === 0) {
    if (isAsking) return <Loading />;
    return error === undefined ? <Nothing isFiltered={isFiltered} /> : <></>;
  }
  const sight = (shown: readonly LeaseEvent[]): void => {
    if (shown.at(-1) === items.at(-1) && shown.length > 0) older();
  };
  return (
    <>
      <EventTable label="Events, newest first" events={items} onSight={sight} />
      {cursor !== undefined && (
        <div class="row">
          <Button onClick={older} disabled={isAsking}>
            {isAsking ? 'Reading…' : 'Read older ones'}
          </Button>
        </div>
      )}
    </>
  );
}

function Nothing({ isFiltered }: { readonly isFiltered: boolean }) {
  if (!isFiltered) {
    return (
      <EmptyState title="Nothing has happened yet">
        <p>
          {connection.value.is === 'unlogged'
            ? 'This namespace keeps no history: the setting keep_history is off.'
            : 'Every lease that is taken, ends or changes hands is written here.'}
        </p>
      </EmptyState>
    );
  }
  return (
    <EmptyState title="Nothing matches">
      <p class="muted">
        Names match as whole segments: orders finds orders and orders/0. Owners and leases match as a whole.
      </p>
      <Button onClick={() => setQuery(CLEARED)}>Clear the filters</Button>
    </EmptyState>
  );
}

const CLEARED = {
  resource: undefined,
  owner: undefined,
  lease: undefined,
  type: undefined,
  from: undefined,
  to: undefined,
};

function Filters({ isLive, isBounded }: { readonly isLive: boolean; readonly isBounded: boolean }) {
  const { query } = place.value;
  return (
    <div class="filters history-filters" role="search">
      <FilterField label="Resource, and all below" name="resource" placeholder="orders" isFirst />
      <FilterField label="Owner" name="owner" placeholder="worker-7" />
      <FilterField label="Lease" name="lease" placeholder="id" />
      <label class="field">
        <span>Type</span>
        <select
          class="input"
          value={query['type'] ?? ''}
          onChange={(event) => setQuery({ type: event.currentTarget.value })}
        >
          <option value="">Any</option>
          {EVENT_TYPES.map((type) => (
            <option key={type} value={type}>
              {type}
            </option>
          ))}
        </select>
      </label>
      <MomentField label="From" name="from" />
      <MomentField label="To" name="to" />
      <div class="row">
        {SPANS.map(([text, ms]) => (
          <Button key={text} onClick={() => setQuery({ from: new Date(storeNow() - ms).toISOString(), to: undefined })}>
            {text}
          </Button>
        ))}
        <label class="check" title={isBounded ? 'What happens now is after the time the filter ends at' : undefined}>
          <input
            type="checkbox"
            checked={isLive}
            disabled={isBounded}
            onChange={(event) => setQuery({ live: event.currentTarget.checked ? undefined : 'off' })}
          />
          Live
        </label>
      </div>
    </div>
  );
}

interface FieldProps {
  readonly label: string;
  readonly name: string;
}

function MomentField({ label, name }: FieldProps) {
  return (
    <label class="field">
      <span>{label}</span>
      <input
        class="input"
        type="datetime-local"
        step="1"
        value={fieldOf(place.value.query[name])}
        onChange={(event) => setQuery({ [name]: isoOf(event.currentTarget.value) })}
      />
    </label>
  );
}
