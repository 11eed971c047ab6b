// Parts of the view of one stream that only show: what is open, who reads, what came of recoveries.
import type { LeaseEvent, StreamView } from '../../api/types.js';
import { hrefOf } from '../../router.js';
import { tick } from '../../state/time.js';
import { Entries, Entry, Sentence } from '../../ui/entries.js';
import { Name } from '../../ui/name.js';
import { Chip, Loading, Panel, type Tone } from '../../ui/parts.js';
import { Time } from '../../ui/time.js';
import { countOutcomes, countText, outcomeOf, shown, spanOf, textIn, numberIn, type OpenLease } from './number-text.js';
import { Operation } from './operation.js';

const MOST_SHOWN = 50;

export function OpenPanel({ stream, open }: { readonly stream: StreamView; readonly open: readonly OpenLease[] }) {
  const known = open.reduce((sum, { count }) => sum + count, 0);
  const missing = Math.max(0, stream.open - known);
  return (
    <Panel title="Open numbers" aside={stream.open === 0 ? 'none' : shown(stream.open)}>
      {open.length === 0 && missing === 0 ? (
        <p class="muted">Nothing is open: the watermark is at the last number.</p>
      ) : (
        <Entries label="Open numbers">
          {open.slice(0, MOST_SHOWN).map((lease) => (
            <OpenEntry key={lease.number} lease={lease} isLowest={lease.number === stream.oldestOpen?.number} />
          ))}
          {missing > 0 && (
            <li class="entry muted">and {countText(missing, 'more number')}, leased before what the log has here</li>
          )}
        </Entries>
      )}
    </Panel>
  );
}

function OpenEntry({ lease, isLowest }: { readonly lease: OpenLease; readonly isLowest: boolean }) {
  const { number, count, owner, operationId, kind, leasedAt, expiresAt, dueAt, isExact, isRecovering } = lease;
  const isOver = tick.value > 0 && Date.parse(expiresAt) <= tick.value;
  return (
    <Entry
      lead={spanOf(number, count)}
      about={
        <>
          <Operation kind={kind} id={operationId} />
          <span>
            leased <Time at={leasedAt} />
          </span>
          <span>
            {isOver && isExact ? 'ran out' : 'until'} <Time at={expiresAt} />
            {!isExact && ', or later'}
          </span>
        </>
      }
      aside={
        <>
          {isRecovering && <Chip tone="warn">being recovered</Chip>}
          {!isRecovering && isOver && dueAt !== undefined && <DueChip at={dueAt} />}
          {isLowest && <Chip tone="accent">holds the watermark</Chip>}
        </>
      }
    >
      <Name text={owner} most={40} />
    </Entry>
  );
}

/** A recovery that failed is tried again later. */
function DueChip({ at }: { readonly at: string }) {
  const isDue = Date.parse(at) <= tick.value;
  return (
    <Chip tone="warn">
      <span>
        {isDue ? (
          'due for recovery'
        ) : (
          <>
            tried again <Time at={at} />
          </>
        )}
      </span>
    </Chip>
  );
}

export function ReaderPanel({ readers }: Pick<StreamView, 'readers'>) {
  return (
    <Panel title="Readers" aside={readers.length === 0 ? 'none' : shown(readers.length)}>
      {readers.length === 0 ? (
        <p class="muted">Nobody reads this stream with a cursor of its own.</p>
      ) : (
        <Entries label="Readers">
          {readers.map(({ name, done, distance, movedAt }) => (
            <Entry
              key={name}
              lead={shown(done)}
              about={
                <span>
                  moved on <Time at={movedAt} />
                </span>
              }
              aside={distance === 0 ? <Chip>up to date</Chip> : <Chip tone="warn">{shown(distance)} behind</Chip>}
            >
              <Name text={name} most={40} />
            </Entry>
          ))}
        </Entries>
      )}
    </Panel>
  );
}

interface RecoveryProps {
  readonly recoveries: readonly LeaseEvent[];
  readonly isLoaded: boolean;
  readonly stream: string;
}

const TONES: Readonly<Partial<Record<string, Tone>>> = {
  'given to a person': 'bad',
  'failed, tried again': 'warn',
  'left a gap': 'warn',
  discarded: 'warn',
  'stored after all': 'accent',
  rebuilt: 'accent',
};

export function RecoveryPanel({ recoveries, isLoaded, stream }: RecoveryProps) {
  const counts = countOutcomes(recoveries).map(({ outcome, count }) => `${count} ${outcome}`);
  return (
    <Panel title="Recovery" aside={counts.join(' · ')}>
      {recoveries.length === 0 &&
        (isLoaded ? <p class="muted">Nothing had to be recovered, as far as the log goes.</p> : <Loading />)}
      {recoveries.length > 0 && (
        <Entries label="Recoveries, the newest first">
          {recoveries.map((event) => (
            <RecoveryEntry key={event.id} event={event} />
          ))}
          <li class="entry">
            <a href={hrefOf('/history', { resource: stream })}>Everything that happened to this stream</a>
          </li>
        </Entries>
      )}
    </Panel>
  );
}

function RecoveryEntry({ event }: { readonly event: LeaseEvent }) {
  const outcome = outcomeOf(event);
  const storedAt = numberIn(event, 'storedAt');
  const attempts = numberIn(event, 'attempts');
  return (
    <Entry
      lead={spanOf(numberIn(event, 'number') ?? 0, numberIn(event, 'count'))}
      about={
        <>
          <span>
            operation <Name text={textIn(event, 'operationId')} most={32} />
          </span>
          {storedAt !== undefined && <span>stored at {shown(storedAt)}</span>}
          {attempts !== undefined && <span>{countText(attempts, 'attempt')}</span>}
          <Time at={event.at} />
        </>
      }
      aside={<Chip tone={TONES[outcome]}>{outcome}</Chip>}
    >
      <Sentence text={event.sentence} most={400} />
    </Entry>
  );
}
