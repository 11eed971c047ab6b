// Leases and tickets as a list, one row each.
import type { LeaseRecord } from '../../api/types.js';
import { Name } from '../../ui/name.js';
import { isNarrow } from '../../ui/narrow.js';
import { Table, type Column } from '../../ui/table.js';
import { QueueCell, RemainingCell, RenewedCell, ResourceCell } from './cells.js';

const COLUMNS: readonly Column<LeaseRecord>[] = [
  { title: 'Resource', width: 'minmax(0, 3fr)', cell: (record) => <ResourceCell record={record} /> },
  { title: 'Owner', width: 'minmax(0, 1.3fr)', isWide: true, cell: ({ owner }) => <Name text={owner} most={28} /> },
  {
    title: 'Epoch',
    width: '9rem',
    align: 'end',
    isWide: true,
    cell: ({ epoch, status }) => (status === 'active' ? epoch : <span class="muted">–</span>),
  },
  { title: 'Remaining', width: 'minmax(8.5rem, 1.1fr)', cell: (record) => <RemainingCell record={record} /> },
  { title: 'Last renewal', width: '7.5rem', isWide: true, cell: (record) => <RenewedCell record={record} /> },
  { title: 'Queue', width: '5.5rem', isWide: true, cell: (record) => <QueueCell record={record} /> },
];

export interface LeaseListProps {
  readonly records: readonly LeaseRecord[];
  readonly onSight: (records: readonly LeaseRecord[]) => void;
}

export function LeaseList({ records, onSight }: LeaseListProps) {
  const rowPx = isNarrow.value ? 60 : 44;
  return <Table label="Leases" rows={records} keyOf={keyOf} columns={COLUMNS} rowPx={rowPx} onSight={onSight} />;
}

function keyOf({ id }: LeaseRecord): string {
  return id;
}
