// The first view: who has what right now, since when, until when, and who waits. As a list or as a tree of names; the filters
// are in the address.
import { computed } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { place, setQuery } from '../../router.js';
import type { LeaseRecord } from '../../api/types.js';
import { isLoaded } from '../../state/connection.js';
import { isTruncated, leases, tickets } from '../../state/records.js';
import { setShown } from '../../state/shown-rows.js';
import { FilterField } from '../../ui/filter-field.js';
import { Loading, ViewHead } from '../../ui/parts.js';
import { EmptyStore, NothingMatches } from './empty.js';
import { isFiltered, matching, usualStatus, wantedOf, type Wanted } from './filter.js';
import { LeaseList } from './lease-list.js';
import { LeaseTree } from './lease-tree.js';
import './now.css';

const isTree = computed(() => place.value.query['as'] === 'tree');
const prefix = computed(() => place.value.query['prefix'] ?? '');
const owner = computed(() => place.value.query['owner'] ?? '');
const status = computed(() => wantedOf(place.value.query).status);
const wanted = computed<Wanted>(() => ({ prefix: prefix.value, owner: owner.value, status: status.value }));

const shown = computed<readonly LeaseRecord[]>(() => {
  const { value } = wanted;
  if (value.status === 'held') return matching(leases.value, value);
  if (value.status === 'waiting') return matching(tickets.value, value);
  return [...matching(leases.value, value), ...matching(tickets.value, value)];
});

const isEmpty = computed(() => isLoaded.value && leases.value.length === 0 && tickets.value.length === 0);

export function Now() {
  const self = useRef({}).current;
  const sight = (records: readonly LeaseRecord[]): void =>
    setShown(
      self,
      records.map(({ id }) => id),
    );
  useEffect(() => () => setShown(self, []), []);
  return (
    <div class="view">
      <ViewHead title="Now" aside={<Counts />} />
      {!isEmpty.value && <Filters />}
      {isTruncated.value && <p class="muted">There are more than can be kept here: these are the first of them.</p>}
      <Body onSight={sight} />
    </div>
  );
}

function Counts() {
  if (!isLoaded.value) return <>…</>;
  const [held, waiting] = [leases.value.length, tickets.value.length];
  return (
    <>
      {held.toLocaleString()} held{waiting > 0 && `, ${waiting.toLocaleString()} waiting`}
    </>
  );
}

function Body({ onSight }: { readonly onSight: (records: readonly LeaseRecord[]) => void }) {
  const records = shown.value;
  if (records.length === 0) {
    if (!isLoaded.value) return <Loading />;
    return isEmpty.value ? (
      <EmptyStore />
    ) : (
      <NothingMatches isWaiting={status.value === 'waiting' && !isFiltered(wanted.value)} />
    );
  }
  return isTree.value ? (
    <LeaseTree records={records} onSight={onSight} />
  ) : (
    <LeaseList records={records} onSight={onSight} />
  );
}

function Filters() {
  return (
    <div class="filters" role="search">
      <FilterField label="Name begins with" name="prefix" placeholder="orders/" isFirst />
      <FilterField label="Owner" name="owner" placeholder="worker-7" />
      <label class="field">
        <span>Status</span>
        <select
          class="input"
          value={status.value}
          onChange={(event) => setQuery({ status: statusIn(event.currentTarget.value) })}
        >
          <option value="held">Held</option>
          <option value="waiting">Waiting</option>
          <option value="all">Held and waiting</option>
        </select>
      </label>
      <label class="field">
        <span>Show as</span>
        <select
          class="input"
          value={isTree.value ? 'tree' : 'list'}
          onChange={(event) => setQuery({ as: event.currentTarget.value === 'tree' ? 'tree' : undefined })}
        >
          <option value="list">List</option>
          <option value="tree">Tree</option>
        </select>
      </label>
    </div>
  );
}

/** What goes without saying is not in the address. */
function statusIn(value: string): string | undefined {
  return value === usualStatus(place.value.query) ? undefined : value;
}
