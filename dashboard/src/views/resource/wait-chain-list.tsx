// Who waits for whom, when a holder of this resource waits itself: sentences, each step one further in. A long queue makes a large
// graph: then it is asked for by hand.
import { useSignal } from '@preact/signals';
import { get } from '../../api/client.js';
import type { WaitGraph } from '../../api/types.js';
import { resourceHref } from '../../router.js';
import { useAsked } from '../../state/asked.js';
import { Name } from '../../ui/name.js';
import { Button, Chip, ErrorNote, Loading, Panel } from '../../ui/parts.js';
import { chainsFor, isStuck, type Chain } from './wait-chains.js';

const EVERY_MS = 5_000;
const LONG_QUEUE = 100;

export function WaitChains({ name, waiting }: { readonly name: string; readonly waiting: number }) {
  const isWanted = useSignal(false);
  if (waiting <= LONG_QUEUE) return <Asked name={name} isByHand={false} />;
  if (isWanted.value) return <Asked name={name} isByHand />;
  return (
    <div>
      <Button
        onClick={() => {
          isWanted.value = true;
        }}
      >
        Look who waits for whom
      </Button>
    </div>
  );
}

function Asked({ name, isByHand }: { readonly name: string; readonly isByHand: boolean }) {
  const ask = (stop: AbortSignal): Promise<WaitGraph> => get<WaitGraph>('/v1/wait-graph', {}, stop);
  const graph = useAsked('wait graph', ask, isByHand ? {} : { everyMs: EVERY_MS });
  if (graph.error !== undefined) return <ErrorNote error={graph.error} onRetry={graph.again} />;
  if (!graph.value) return isByHand ? <Loading /> : <></>;
  const chains = chainsFor(graph.value, name);
  if (!isStuck(chains)) {
    return isByHand ? <p class="muted">Nothing is stuck: no holder waits for anything itself.</p> : <></>;
  }
  return (
    <Panel title="Who waits for whom" aside="a holder waits itself">
      <ChainList chains={chains} />
    </Panel>
  );
}

function ChainList({ chains, isFurther = false }: { readonly chains: readonly Chain[]; readonly isFurther?: boolean }) {
  return (
    <ul class="chains">
      {chains.map((chain) => (
        <li key={chain.key}>
          <span class="chain">
            {isFurther ? 'which waits for ' : <Waiters chain={chain} />}
            <a href={resourceHref(chain.resource)}>
              <Name text={chain.resource} most={48} />
            </a>
            , held by <Name text={chain.heldBy} most={36} />
            {chain.isCircle && <Chip tone="bad">a circle: nobody in it can go on</Chip>}
          </span>
          {chain.next.length > 0 && <ChainList chains={chain.next} isFurther />}
        </li>
      ))}
    </ul>
  );
}

function Waiters({ chain: { waiters, count } }: { readonly chain: Chain }) {
  const more = count - waiters.length;
  return (
    <>
      {waiters.map((owner, at) => (
        <span key={`${at} ${owner}`}>
          {at > 0 && ', '}
          <Name text={owner} most={36} />
        </span>
      ))}
      {more > 0 && ` and ${more} more`}
      {count === 1 ? ' waits for ' : ' wait for '}
    </>
  );
}
