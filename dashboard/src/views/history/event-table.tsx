// Events as a table, newest first; each opens with everything that is known of it.
import { useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { LeaseEvent } from '../../api/types.js';
import { hrefOf, resourceHref } from '../../router.js';
import { Dialog } from '../../ui/dialog.js';
import { Name } from '../../ui/name.js';
import { plainName } from '../../ui/name-text.js';
import { isNarrow } from '../../ui/narrow.js';
import { Button, Chip, Code, type Tone } from '../../ui/parts.js';
import { Table, type Column } from '../../ui/table.js';
import { exactText } from '../../ui/time-text.js';
import { Time } from '../../ui/time.js';
import './event-table.css';

export interface EventTableProps {
  readonly label: string;
  readonly events: readonly LeaseEvent[];
  /** Where it is clear which resource is meant. */
  readonly isOfOne?: boolean;
  readonly onSight?: (events: readonly LeaseEvent[]) => void;
}

const TONES: Readonly<Record<string, Tone>> = {
  'lease.revoked': 'bad',
  'lease.expired': 'warn',
  'lease.failed': 'warn',
  'deadlock.detected': 'bad',
  'recovery.failed': 'bad',
  'alert.raised': 'bad',
  'sequence.gap': 'warn',
  'lease.acquired': 'accent',
};

export function EventTable({ label, events, isOfOne = false, onSight }: EventTableProps) {
  const open = useSignal<LeaseEvent | undefined>(undefined);
  const columns = useMemo(
    () =>
      columnsOf(isOfOne, (event) => {
        open.value = event;
      }),
    [isOfOne],
  );
  return (
    <>
      <Table
        label={label}
        rows={events}
        columns={columns}
        keyOf={keyOf}
        rowPx={isNarrow.value ? 58 : 40}
        {...(onSight ? { onSight } : {})}
      />
      {open.value && (
        <EventDialog
          event={open.value}
          onClose={() => {
            open.value = undefined;
          }}
        />
      )}
    </>
  );
}

function keyOf({ id }: LeaseEvent): string {
  return id;
}

function columnsOf(isOfOne: boolean, open: (event: LeaseEvent) => void): readonly Column<LeaseEvent>[] {
  const all: (Column<LeaseEvent> & { readonly isNamed?: boolean })[] = [
    { title: 'When', width: '6.5rem', isWide: true, cell: ({ at }) => <Time at={at} /> },
    { title: 'What', width: 'minmax(0, 3fr)', cell: (event) => <WhatCell event={event} onOpen={open} /> },
    {
      title: 'Resource',
      width: 'minmax(0, 1.4fr)',
      isWide: true,
      isNamed: true,
      cell: ({ resource }) =>
        resource !== undefined && (
          <a href={resourceHref(resource)}>
            <Name text={resource} most={36} />
          </a>
        ),
    },
    {
      title: 'Owner',
      width: 'minmax(0, 1fr)',
      isWide: true,
      isNamed: true,
      cell: ({ owner }) => owner !== undefined && <Name text={owner} most={24} />,
    },
  ];
  return all.filter(({ isNamed = false }) => !(isNamed && isOfOne));
}

function WhatCell({ event, onOpen }: { readonly event: LeaseEvent; readonly onOpen: (event: LeaseEvent) => void }) {
  const sentence = plainName(event.sentence);
  return (
    <button class="what" type="button" aria-haspopup="dialog" title={sentence} onClick={() => onOpen(event)}>
      <span class="kind">
        <Chip tone={TONES[event.type]}>{event.type.replace(/^lease\./, '')}</Chip>
        {isNarrow.value && <Time at={event.at} />}
      </span>
      <bdi>{sentence}</bdi>
    </button>
  );
}

function EventDialog({ event, onClose }: { readonly event: LeaseEvent; readonly onClose: () => void }) {
  const { leaseId, owner, epoch, from, to, actor, reason, error } = event;
  const names = event.resources ?? (event.resource === undefined ? [] : [event.resource]);
  const change = from === undefined && to === undefined ? undefined : `${from ?? 'nothing'} → ${to ?? 'nothing'}`;
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['Owner', owner],
    ['Epoch', epoch === undefined ? undefined : String(epoch)],
    ['Change', change],
    ['By', actor],
    ['Reason', reason],
    ['Error', error],
    ['Position', event.id],
  ];
  return (
    <Dialog title={event.type} onClose={onClose}>
      <p>
        <bdi>{plainName(event.sentence)}</bdi>
      </p>
      <dl class="facts">
        <dt>At</dt>
        <dd>{exactText(event.at)}</dd>
        {names.length > 0 && <dt>Resource</dt>}
        {names.length > 0 && (
          <dd class="stack-tight">
            {names.map((name) => (
              <a key={name} href={resourceHref(name)} onClick={onClose}>
                <Name text={name} most={600} />
              </a>
            ))}
          </dd>
        )}
        {rows.map(
          ([title, value]) =>
            value !== undefined && (
              <>
                <dt key={`${title} t`}>{title}</dt>
                <dd key={title}>
                  <Name text={value} most={600} />
                </dd>
              </>
            ),
        )}
        {leaseId !== undefined && <dt>Lease</dt>}
        {leaseId !== undefined && (
          <dd>
            <a href={hrefOf('/history', { lease: leaseId })} onClick={onClose}>
              <Name text={leaseId} />
            </a>
          </dd>
        )}
      </dl>
      {Object.keys(event.data).length > 0 && <Code>{plainLines(event.data)}</Code>}
      <div class="ends">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}

/** JSON leaves direction marks as they are; here they are seen. */
function plainLines(data: unknown): string {
  return JSON.stringify(data, null, 2).split('\n').map(plainName).join('\n');
}
