// Every stream with its figures, in order of their names. Those that need somebody are told apart by words.
import { useMemo } from 'preact/hooks';
import { get } from '../../api/client.js';
import type { StreamPage, StreamView } from '../../api/types.js';
import { hrefOf, place, setQuery } from '../../router.js';
import { useAsked } from '../../state/asked.js';
import { FilterField } from '../../ui/filter-field.js';
import { Name } from '../../ui/name.js';
import { isNarrow } from '../../ui/narrow.js';
import { Button, Chip, Code, EmptyState, ErrorNote, Loading, ViewHead } from '../../ui/parts.js';
import { Table, type Column } from '../../ui/table.js';
import { Since } from '../../ui/time.js';
import { countText, shown } from './number-text.js';

const EVERY_MS = 3_000;
const PAGE = 100;
const MOST_PAGES = 10;

interface AllStreams {
  readonly items: readonly StreamView[];
  readonly isCut: boolean;
}

async function readStreams(stop: AbortSignal): Promise<AllStreams> {
  const items: StreamView[] = [];
  let isCut = false;
  for (let page = 0; page < MOST_PAGES; page += 1) {
    const answer = await get<StreamPage>('/v1/streams', { after: items.at(-1)?.name, limit: PAGE }, stop);
    items.push(...answer.items);
    isCut = answer.more;
    if (!answer.more || answer.items.length === 0) break;
  }
  return { items, isCut };
}

export function StreamList() {
  const { value, error, again } = useAsked('streams', readStreams, { everyMs: EVERY_MS });
  const prefix = place.value.query['prefix'] ?? '';
  const rows = useMemo(() => (value?.items ?? []).filter(({ name }) => name.startsWith(prefix)), [value, prefix]);
  return (
    <div class="view">
      <ViewHead title="Sequences" aside={value && countText(value.items.length, 'stream')} />
      {error !== undefined && <ErrorNote error={error} onRetry={again} />}
      {value === undefined ? error === undefined && <Loading /> : <Streams all={value} rows={rows} />}
    </div>
  );
}

interface StreamsProps {
  readonly all: AllStreams;
  readonly rows: readonly StreamView[];
}

function Streams({ all, rows }: StreamsProps) {
  if (all.items.length === 0) return <NoStreams />;
  return (
    <>
      <div class="filters" role="search">
        <FilterField label="Name begins with" name="prefix" placeholder="orders/" isFirst />
      </div>
      {all.isCut && <p class="muted">There are more streams than are read here: these are the first of them.</p>}
      <Table
        label="Streams"
        rows={rows}
        keyOf={keyOf}
        columns={COLUMNS}
        rowPx={isNarrow.value ? 64 : 46}
        empty={
          <EmptyState title="Nothing matches">
            <Button onClick={() => setQuery({ prefix: undefined })}>Clear the filter</Button>
          </EmptyState>
        }
      />
    </>
  );
}

function keyOf({ name }: StreamView): string {
  return name;
}

const figure = (title: string, width: string, cell: Column<StreamView>['cell']): Column<StreamView> => ({
  title,
  width,
  align: 'end',
  isWide: true,
  cell,
});

const COLUMNS: readonly Column<StreamView>[] = [
  { title: 'Stream', width: 'minmax(0, 2.2fr)', cell: (stream) => <NameCell stream={stream} /> },
  { title: 'Watermark', width: 'minmax(8.5rem, 1.2fr)', cell: (stream) => <WatermarkCell stream={stream} /> },
  figure('Open', '4rem', ({ open }) => quiet(open)),
  figure('Gaps', '4.5rem', ({ gaps }) => quiet(gaps)),
  figure('Moved', '4.5rem', ({ moved }) => quiet(moved)),
  figure('Furthest reader', '8rem', ({ readers }) => <ReaderCell readers={readers} />),
  { title: 'Held up by', width: 'minmax(0, 1.6fr)', isWide: true, cell: (stream) => <HeldUpCell stream={stream} /> },
];

function quiet(count: number) {
  return count === 0 ? <span class="muted">–</span> : shown(count);
}

function NameCell({ stream: { name, manual } }: { readonly stream: StreamView }) {
  return (
    <span class="stream-cell">
      <a href={hrefOf('/sequences', { stream: name })}>
        <Name text={name} most={48} />
      </a>
      {manual > 0 && <Chip tone="bad">{countText(manual, 'waits', 'wait')} for a person</Chip>}
    </span>
  );
}

function WatermarkCell({ stream: { watermark, leased } }: { readonly stream: StreamView }) {
  const behind = leased - watermark;
  return (
    <span title={`${shown(leased)} leased`}>
      {shown(watermark)}
      {behind > 0 && <span class="muted"> of {shown(leased)}</span>}
    </span>
  );
}

function ReaderCell({ readers }: Pick<StreamView, 'readers'>) {
  if (readers.length === 0) return <span class="muted">no reader</span>;
  const most = Math.max(...readers.map(({ distance }) => distance));
  return <span>{most === 0 ? 'up to date' : `${shown(most)} behind`}</span>;
}

function HeldUpCell({ stream: { oldestOpen } }: { readonly stream: StreamView }) {
  if (!oldestOpen) return <span class="muted">–</span>;
  return (
    <span>
      <Name text={oldestOpen.owner} most={22} />{' '}
      <span class="muted">
        for <Since at={oldestOpen.leasedAt} />
      </span>
    </span>
  );
}

function NoStreams() {
  return (
    <EmptyState title="There is no stream yet">
      <p>A stream hands out numbers without a hole: leased before the work, stored with it, read in order.</p>
      <Code>
        {[
          `import { connect } from 'holdfast';`,
          '',
          `const leases = await connect('${location.origin}');`,
          `const orders = leases.sequence('orders/log');`,
          `const number = await orders.lease({ operationId: 'order-1', kind: 'order' });`,
          `await number.commit({ total: 42 });`,
        ].join('\n')}
      </Code>
    </EmptyState>
  );
}
