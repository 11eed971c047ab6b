// Who waits, in the order they will be served. A thousand of them are as quick as ten: only what is in sight is drawn.
import { RevokeButton } from '../../act/revoke-button.js';
import type { LeaseRecord } from '../../api/types.js';
import { hrefOf } from '../../router.js';
import { may } from '../../state/session.js';
import { Name } from '../../ui/name.js';
import { Panel } from '../../ui/parts.js';
import { Table, type Column } from '../../ui/table.js';
import { Since } from '../../ui/time.js';

const ROW_PX = 40;
const MOST_ROWS = 8;

const COLUMNS: readonly Column<LeaseRecord>[] = [
  { title: 'Place', width: '3.5rem', align: 'end', cell: (_, index) => (index + 1).toLocaleString() },
  {
    title: 'Owner',
    width: 'minmax(0, 2fr)',
    cell: ({ owner }) => (
      <a href={hrefOf('/now', { owner })}>
        <Name text={owner} most={36} />
      </a>
    ),
  },
  { title: 'Waiting for', width: 'minmax(5rem, 1fr)', cell: ({ acquiredAt }) => <Since at={acquiredAt} /> },
  { title: 'Wants', width: 'minmax(0, 1fr)', isWide: true, cell: (record) => <WantsCell record={record} /> },
];
const WITH_ACTIONS: readonly Column<LeaseRecord>[] = [
  ...COLUMNS,
  { title: 'Action', width: '6rem', align: 'end', cell: (record) => <RevokeButton record={record} /> },
];

export function Queue({ queue }: { readonly queue: readonly LeaseRecord[] }) {
  const height = Math.min(MOST_ROWS, queue.length) * ROW_PX + 38;
  return (
    <Panel title="Queue" aside={`${queue.length.toLocaleString()} waiting, in this order`}>
      <div class="framed" style={{ blockSize: `${height}px` }}>
        <Table
          label="Queue, who comes first first"
          rows={queue}
          keyOf={keyOf}
          columns={may('revoke') ? WITH_ACTIONS : COLUMNS}
          rowPx={ROW_PX}
        />
      </div>
    </Panel>
  );
}

function keyOf({ id }: LeaseRecord): string {
  return id;
}

function WantsCell({ record: { parts } }: { readonly record: LeaseRecord }) {
  const [first] = parts;
  const how = first?.mode === 'shared' ? 'shared' : 'exclusive';
  const width = first?.scope === 'subtree' ? ', and all below' : '';
  return <span class="muted">{`${how}${width}${parts.length > 1 ? `, with ${parts.length - 1} more` : ''}`}</span>;
}
