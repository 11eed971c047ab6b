// Who holds the resource now, with everything an operator asks first: since when, how long still, does it look alive.
import { useEffect, useRef } from 'preact/hooks';
import { RevokeButton } from '../../act/revoke-button.js';
import { signsOfLife } from '../../act/signs-of-life.js';
import type { LeaseRecord, ResourceView } from '../../api/types.js';
import { hrefOf, resourceHref } from '../../router.js';
import { setShown } from '../../state/shown-rows.js';
import { tick } from '../../state/time.js';
import { Name } from '../../ui/name.js';
import { plainName } from '../../ui/name-text.js';
import { Chip, Code, Panel } from '../../ui/parts.js';
import { spanText } from '../../ui/time-text.js';
import { Remaining, Time } from '../../ui/time.js';

/** More than these are told as a number: a shared name may have thousands. */
const MOST_SHOWN = 20;

export function Holders({ name, view }: { readonly name: string; readonly view: ResourceView }) {
  const self = useRef({}).current;
  const { holders, holderCount, blockedMs } = view;
  const outside = holderCount - holders.length;
  useEffect(() => {
    setShown(
      self,
      holders.slice(0, MOST_SHOWN).map(({ id }) => id),
    );
    return () => setShown(self, []);
  }, [holders]);
  if (holders.length === 0) {
    return (
      <Panel title="Holder">
        <p class="muted">
          {outside > 0
            ? 'It is held outside what your token may see.'
            : blockedMs > 0
              ? `Nobody holds it; it is kept free for ${spanText(blockedMs)} more.`
              : 'Nobody holds it: it is free.'}
        </p>
      </Panel>
    );
  }
  const rest = holders.length - MOST_SHOWN;
  return (
    <Panel title={holderCount === 1 ? 'Holder' : 'Holders'} aside={holderCount > 1 && holderCount}>
      <ul class="holders">
        {holders.slice(0, MOST_SHOWN).map((record) => (
          <li key={record.id}>
            <Holder record={record} name={name} />
          </li>
        ))}
      </ul>
      {rest > 0 && <p class="muted">and {rest.toLocaleString()} more</p>}
      {outside > 0 && <p class="muted">and {outside.toLocaleString()} outside what your token may see</p>}
    </Panel>
  );
}

function Holder({ record, name }: { readonly record: LeaseRecord; readonly name: string }) {
  const part = record.parts.find((one) => one.name === name);
  const others = record.parts.filter((one) => one.name !== name);
  const { is, text } = signsOfLife(record, tick.value);
  const tone = is === 'alive' ? 'accent' : is === 'new' ? undefined : 'warn';
  return (
    <>
      <div class="row holder-head">
        <a href={hrefOf('/now', { owner: record.owner })} title={`What else ${plainName(record.owner)} holds`}>
          <Name text={record.owner} most={48} />
        </a>
        <Chip>epoch {record.epoch}</Chip>
        {part?.scope === 'subtree' && <Chip tone="accent">and all below</Chip>}
        {part?.mode === 'shared' && (
          <Chip>{part.limit === undefined ? 'shared' : `shared, ${part.limit} at most`}</Chip>
        )}
        <span class="push">
          <RevokeButton record={record} />
        </span>
      </div>
      <dl class="facts">
        <dt>Held since</dt>
        <dd>
          <Time at={record.acquiredAt} />
        </dd>
        <dt>Remaining</dt>
        <dd class="bar-wide">
          <Remaining {...record} />
        </dd>
        <dt>Signs of life</dt>
        <dd>
          <span class="life" data-tone={tone}>
            {tick.value === 0 ? '…' : text}
          </span>
        </dd>
        {others.length > 0 && <dt>{part ? 'With it' : 'Through'}</dt>}
        {others.length > 0 && (
          <dd class="names">
            {others.map((one) => (
              <a key={one.name} href={resourceHref(one.name)}>
                <Name text={one.name} most={48} />
                {one.scope === 'subtree' && ' and all below'}
              </a>
            ))}
          </dd>
        )}
        <dt>Lease</dt>
        <dd>
          <a href={hrefOf('/history', { lease: record.id })}>
            <Name text={record.id} />
          </a>
        </dd>
        {record.operationId !== undefined && <dt>Operation</dt>}
        {record.operationId !== undefined && (
          <dd>
            <Name text={record.operationId} />
          </dd>
        )}
      </dl>
      {record.metadata !== undefined && (
        <details>
          <summary>Metadata</summary>
          <Code>{plainLines(record.metadata)}</Code>
        </details>
      )}
    </>
  );
}

function plainLines(data: unknown): string {
  return JSON.stringify(data, null, 2).split('\n').map(plainName).join('\n');
}
