// Leases and tickets as a tree of their names. What was opened or closed by hand is remembered while the view is open.
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { resourceHref } from '../../router.js';
import { Name } from '../../ui/name.js';
import { plainName } from '../../ui/name-text.js';
import { Chip } from '../../ui/parts.js';
import { Table, type Column } from '../../ui/table.js';
import { PartChips, RemainingCell } from './cells.js';
import type { LeaseListProps } from './lease-list.js';
import { treeRows, type TreeRow } from './tree.js';

/** A tree that is larger than this begins with its top closed. */
const SMALL = 300;
const STEP_PX = 20;

export function LeaseTree({ records, onSight }: LeaseListProps) {
  const toggled = useSignal<ReadonlySet<string>>(new Set());
  const isOpenFirst = records.length <= SMALL;
  const flipped = toggled.value;
  const rows = useMemo(
    () => treeRows(records, (name) => isOpenFirst !== flipped.has(name)),
    [records, isOpenFirst, flipped],
  );
  const toggle = (name: string): void => {
    const next = new Set(toggled.value);
    if (!next.delete(name)) next.add(name);
    toggled.value = next;
  };
  const columns = useMemo(() => columnsFor(toggle), []);
  const sight = (shown: readonly TreeRow[]): void => onSight(shown.flatMap(({ record }) => record ?? []));
  return <Table label="Leases by name" rows={rows} keyOf={keyOf} columns={columns} rowPx={38} onSight={sight} />;
}

function columnsFor(toggle: (name: string) => void): readonly Column<TreeRow>[] {
  return [
    { title: 'Name', width: 'minmax(0, 2.4fr)', cell: (row) => <NameCell row={row} onToggle={toggle} /> },
    { title: 'Holder', width: 'minmax(0, 1.6fr)', cell: (row) => <HolderCell row={row} /> },
    {
      title: 'Remaining',
      width: 'minmax(8.5rem, 1.2fr)',
      cell: ({ record }) => record && <RemainingCell record={record} />,
    },
  ];
}

function keyOf({ key }: TreeRow): string {
  return key;
}

function NameCell({ row, onToggle }: { readonly row: TreeRow; readonly onToggle: (name: string) => void }) {
  const { name, label, depth, isOpen, below, cover, record } = row;
  return (
    <span class="tree-cell" style={{ paddingInlineStart: px(depth) }}>
      {cover && <i class="cover" aria-hidden="true" style={{ insetInlineStart: px(cover.depth + 0.5) }} />}
      {isOpen === undefined ? (
        <span class="twig" aria-hidden="true" />
      ) : (
        <button
          class="twig"
          type="button"
          aria-expanded={isOpen}
          aria-label={`below ${plainName(name)}`}
          onClick={() => onToggle(name)}
        >
          <svg viewBox="0 0 10 10" aria-hidden="true">
            <path d="M3 1.5 7 5 3 8.5" fill="none" stroke="currentColor" stroke-width="1.6" />
          </svg>
        </button>
      )}
      {label !== '' && (
        <a href={resourceHref(name)}>
          <Name text={label} most={48} />
        </a>
      )}
      {label !== '' && <PartChips part={record?.parts.find((part) => part.name === name)} />}
      {isOpen === false && below > 0 && <span class="muted">{below}</span>}
    </span>
  );
}

function px(depth: number): string {
  return `${depth * STEP_PX}px`;
}

function HolderCell({ row }: { readonly row: TreeRow }) {
  const { record, holders, waiting, cover } = row;
  const isTicket = record?.status === 'pending';
  return (
    <span class="row-inline">
      {record && <Name text={record.owner} most={26} />}
      {!record && holders > 0 && <span>{holders} holders</span>}
      {isTicket ? <Chip tone="warn">waiting</Chip> : waiting > 0 && <Chip tone="warn">{waiting} waiting</Chip>}
      {cover && (
        <span class="muted">
          under <Name text={cover.lease.owner} most={20} />
        </span>
      )}
    </span>
  );
}
