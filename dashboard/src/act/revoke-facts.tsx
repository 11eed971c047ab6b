// What the confirmation of a revocation says: before it, what is there and what will happen; after it, what came of it.
import type { LeaseRecord, ResourceView } from '../api/types.js';
import { tick } from '../state/time.js';
import { Name } from '../ui/name.js';
import { Chip, errorText, type Tone } from '../ui/parts.js';
import { Remaining, Since, Time } from '../ui/time.js';
import type { RevokeEnd } from './revoke-steps.js';
import { signsOfLife, type SignsOfLife } from './signs-of-life.js';

interface FactsProps {
  readonly record: LeaseRecord;
  readonly name: string;
  readonly view: ResourceView | undefined;
}

const TONES: Readonly<Record<SignsOfLife['is'], Tone | undefined>> = {
  alive: 'accent',
  new: undefined,
  overdue: 'warn',
  over: 'warn',
};

export function RevokeFacts({ record, name, view }: FactsProps) {
  const isTicket = record.status === 'pending';
  const others = record.parts.filter((part) => part.name !== name);
  return (
    <>
      <dl class="facts">
        <dt>{isTicket ? 'Waiting' : 'Held by'}</dt>
        <dd>
          <Name text={record.owner} />
        </dd>
        <dt>Since</dt>
        <dd>
          <Time at={record.acquiredAt} />
        </dd>
        {!isTicket && <HeldFacts record={record} />}
        {others.length > 0 && (
          <>
            <dt>Also ends</dt>
            <dd class="names">
              {others.map((part) => (
                <Name key={part.name} text={part.name} most={40} />
              ))}
            </dd>
          </>
        )}
      </dl>
      <ul class="will">{isTicket ? <TicketWill /> : <LeaseWill record={record} view={view} />}</ul>
    </>
  );
}

function HeldFacts({ record }: { readonly record: LeaseRecord }) {
  const { is, text } = signsOfLife(record, tick.value);
  return (
    <>
      <dt>Epoch</dt>
      <dd>{record.epoch}</dd>
      <dt>Remaining</dt>
      <dd>
        <Remaining {...record} />
      </dd>
      <dt>Holder</dt>
      <dd>
        <span class="life" data-tone={TONES[is]}>
          {text}
        </span>
      </dd>
    </>
  );
}

function LeaseWill({ record, view }: { readonly record: LeaseRecord; readonly view: ResourceView | undefined }) {
  const { is } = signsOfLife(record, tick.value);
  return (
    <>
      <li>
        The lease ends now, for good. <Name text={record.owner} most={32} />
        {is === 'alive'
          ? ', which seems to be at work, learns it at its next renewal at the latest.'
          : ' cannot renew it any more.'}
      </li>
      <li>
        <Next view={view} record={record} />
      </li>
      <li>What it still writes is refused only where writes are guarded by the epoch.</li>
    </>
  );
}

function TicketWill() {
  return (
    <>
      <li>It loses its place, and its request fails with the reason you give.</li>
      <li>Everybody behind moves up. Whoever holds is not touched.</li>
    </>
  );
}

function Next({ view, record }: { readonly view: ResourceView | undefined; readonly record: LeaseRecord }) {
  if (!view) return <>Asking who is next…</>;
  const [first] = view.queue;
  const isShared = view.holders.length > 1;
  if (!first) return <>Nobody waits: it is free for whoever asks next.</>;
  const others = view.queue.length - 1;
  return (
    <>
      <Name text={first.owner} most={32} /> is next, waiting for <Since at={first.acquiredAt} />
      {others > 0 && `, ${others} more behind`}
      {isShared && record.parts[0]?.mode === 'shared' && '; other holders stay'}.
    </>
  );
}

interface OutcomeProps {
  readonly end: RevokeEnd;
  readonly isTicket: boolean;
  readonly name: string;
  readonly view: ResourceView | undefined;
}

export function RevokeOutcome({ end, isTicket, name, view }: OutcomeProps) {
  if (end.is === 'done') {
    return (
      <div class="outcome" data-is="done">
        <p>
          <strong>{isTicket ? 'Removed.' : 'Revoked.'}</strong> <Name text={end.record.owner} most={32} /> does not{' '}
          {isTicket ? 'wait for' : 'hold'} <Name text={name} most={40} /> any more.
        </p>
        <After view={view} />
      </div>
    );
  }
  if (end.is === 'gone') {
    return (
      <div class="outcome" data-is="gone">
        <p>
          <strong>It has ended by itself; nothing was revoked.</strong> <Ending record={end.record} />
        </p>
        <After view={view} />
      </div>
    );
  }
  const text = end.is === 'changed' ? end.why : `${errorText(end.error)}. It still stands.`;
  return (
    <p class="outcome" data-is="changed">
      <strong>{text}</strong>{' '}
      {end.is === 'changed'
        ? 'Above is how it is now. Nothing was done; confirm again if you still mean it.'
        : 'Trying again is safe: it ends once.'}
    </p>
  );
}

function Ending({ record }: { readonly record: LeaseRecord | undefined }) {
  if (!record) return <>The store does not know it any more.</>;
  return (
    <>
      <Name text={record.owner} most={32} />: {record.status}
      {record.endedAt !== undefined && (
        <>
          {' '}
          <Time at={record.endedAt} />
        </>
      )}
      {record.reason !== undefined && (
        <>
          , “<Name text={record.reason} />”
        </>
      )}
      .
    </>
  );
}

function After({ view }: { readonly view: ResourceView | undefined }) {
  const [holder] = view?.holders ?? [];
  if (!view) return null;
  if (!holder) return <p>Nobody holds it now.</p>;
  return (
    <p>
      <Name text={holder.owner} most={32} /> holds it now <Chip>epoch {holder.epoch}</Chip>
      {view.queue.length > 0 && `, ${view.queue.length} waiting`}
    </p>
  );
}
