// Cells that the list and the tree of leases share.
import { resourceHref } from '../../router.js';
import type { LeaseRecord, Part } from '../../api/types.js';
import { queues } from '../../state/records.js';
import { Name } from '../../ui/name.js';
import { plainName } from '../../ui/name-text.js';
import { isNarrow } from '../../ui/narrow.js';
import { Chip } from '../../ui/parts.js';
import { Remaining, Since, Time } from '../../ui/time.js';

/** What sets a part apart from one exclusive name. */
export function PartChips({ part }: { readonly part: Part | undefined }) {
  if (!part) return null;
  return (
    <>
      {part.scope === 'subtree' && <Chip tone="accent">and all below</Chip>}
      {part.mode === 'shared' && <Chip>{part.limit === undefined ? 'shared' : `shared ≤ ${part.limit}`}</Chip>}
    </>
  );
}

export function ResourceCell({ record }: { readonly record: LeaseRecord }) {
  const [first, ...more] = record.parts;
  const others = more.map(({ name }) => plainName(name)).join('\n');
  return (
    <span class="resource-cell">
      <a href={resourceHref(first?.name ?? '')}>
        <Name text={first?.name ?? ''} most={56} />
      </a>
      <span class="under">
        {isNarrow.value && <Name text={record.owner} most={20} />}
        <PartChips part={first} />
        {more.length > 0 && (
          <span title={others}>
            <Chip>+{more.length} more</Chip>
          </span>
        )}
      </span>
    </span>
  );
}

export function RemainingCell({ record }: { readonly record: LeaseRecord }) {
  if (record.status === 'active') return <Remaining {...record} />;
  return (
    <span class="muted">
      waiting for <Since at={record.acquiredAt} />
    </span>
  );
}

export function RenewedCell({ record }: { readonly record: LeaseRecord }) {
  if (record.status !== 'active') return <span class="muted">–</span>;
  return record.renewals === 0 ? (
    <span class="muted">
      taken <Time at={record.acquiredAt} />
    </span>
  ) : (
    <span title={`renewed ${record.renewals} times`}>
      <Time at={record.renewedAt} />
    </span>
  );
}

export function QueueCell({ record }: { readonly record: LeaseRecord }) {
  const behind = record.status === 'active' ? queues.value.behind(record) : 0;
  return behind === 0 ? <span class="muted">–</span> : <Chip tone="warn">{behind} waiting</Chip>;
}
