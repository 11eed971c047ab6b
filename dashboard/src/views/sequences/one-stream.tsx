// One stream: its figures, the last numbers at a glance, what is open, what waits for a person, gaps, readers, recoveries.
import { useMemo } from 'preact/hooks';
import { ApiError, get } from '../../api/client.js';
import type { GapPage, StreamView } from '../../api/types.js';
import { hrefOf } from '../../router.js';
import { useAsked } from '../../state/asked.js';
import { Name } from '../../ui/name.js';
import { EmptyState, ErrorNote, Loading, ViewHead } from '../../ui/parts.js';
import { GapPanel } from './gap-panel.js';
import { ManualPanel } from './manual-panel.js';
import { MOST_CELLS, stripCells, stripFrom } from './number-strip.js';
import { openLeases, shown } from './number-text.js';
import { OpenPanel, ReaderPanel, RecoveryPanel } from './stream-panels.js';
import { useStreamLog } from './stream-log.js';
import { Strip } from './strip.js';

const EVERY_MS = 2_000;

export function OneStream({ stream }: { readonly stream: string }) {
  const path = pathOf(stream);
  const asked = useAsked(path, (stop) => readStream(path, stop), { everyMs: EVERY_MS });
  const log = useStreamLog(stream);
  const { value, error, again } = asked;
  const isGone = error instanceof ApiError && error.status === 404;
  const view = value?.stream;
  return (
    <div class="view">
      <ViewHead
        title={<Name text={stream} most={96} />}
        aside={view && `watermark ${shown(view.watermark)}`}
        actions={<a href={hrefOf('/sequences')}>All sequences</a>}
      />
      {isGone ? (
        <EmptyState title="There is no such stream">
          <p>It is made when its first number is leased.</p>
        </EmptyState>
      ) : (
        error !== undefined && <ErrorNote error={error} onRetry={again} />
      )}
      {log.error !== undefined && !isGone && <ErrorNote error={log.error} onRetry={log.again} />}
      {value === undefined ? error === undefined && <Loading /> : <Body value={value} log={log} onChanged={again} />}
    </div>
  );
}

interface Read {
  readonly stream: StreamView;
  readonly lastGaps: GapPage['items'];
}

async function readStream(path: string, stop: AbortSignal): Promise<Read> {
  const stream = await get<StreamView>(path, {}, stop);
  if (stream.gaps + stream.manual === 0) return { stream, lastGaps: [] };
  const query = { after: stripFrom(stream) - 1, limit: MOST_CELLS };
  return { stream, lastGaps: (await get<GapPage>(`${path}/gaps`, query, stop)).items };
}

function pathOf(stream: string): string {
  return `/v1/streams/${encodeURIComponent(stream)}`;
}

interface BodyProps {
  readonly value: Read;
  readonly log: ReturnType<typeof useStreamLog>;
  readonly onChanged: () => void;
}

function Body({ value: { stream, lastGaps }, log, onChanged }: BodyProps) {
  const open = useMemo(() => openLeases(stream, log.events), [stream, log.events]);
  const cells = useMemo(() => stripCells(stream, lastGaps, open, log.events), [stream, lastGaps, open, log.events]);
  const path = pathOf(stream.name);
  return (
    <>
      <Figures stream={stream} />
      <Strip cells={cells} watermark={stream.watermark} />
      <ManualPanel path={path} count={stream.manual} onChanged={onChanged} />
      <div class="panels">
        <OpenPanel stream={stream} open={open} />
        <ReaderPanel readers={stream.readers} />
      </div>
      <GapPanel path={path} count={stream.gaps} />
      <RecoveryPanel recoveries={log.recoveries} isLoaded={log.isLoaded} stream={stream.name} />
    </>
  );
}

function Figures({ stream }: { readonly stream: StreamView }) {
  const tiles: readonly (readonly [string, number, string])[] = [
    ['Watermark', stream.watermark, 'everything up to here is settled, and may be read'],
    ['Leased', stream.leased, 'the highest number there is'],
    ['Open', stream.open, 'leased or being recovered'],
    ['Gaps', stream.gaps, 'given up, stored nowhere else'],
    ['Moved', stream.moved, 'stored under another number'],
    ['For a person', stream.manual, 'recovery could not settle these'],
    ['Shown up to', stream.seal, 'gaps up to here stay gaps: readers have passed them'],
    ['Kept from', stream.trimmedBefore, 'operations below are removed'],
  ];
  return (
    <dl class="tiles">
      {tiles.map(([name, value, why]) => (
        <div key={name} title={why} data-tone={name === 'For a person' && value > 0 ? 'bad' : undefined}>
          <dt>{name}</dt>
          <dd>{shown(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
