// Streams, gaps and what waits for a person, as tables that fit and as lines about one stream.
import { isoTime } from '../domain/lease.js';
import type { ManualItem, StreamFigures } from '../domain/sequence.js';
import type { StreamGap } from '../index.js';
import { safe } from './escape.js';
import type { Output } from './output.js';
import { fitted, type Column } from './table.js';
import { ago, span, utc } from './times.js';

function number<T>(title: string, of: (row: T) => number): Column<T> {
  return { title, isRight: true, of: (row) => String(of(row)) };
}

export function streamTable(streams: readonly StreamFigures[], output: Output, now: number): string[] {
  const name: Column<StreamFigures> = { title: 'STREAM', of: (row) => safe(row.name) };
  const figures = [
    number<StreamFigures>('LEASED', (row) => row.leased),
    number<StreamFigures>('OPEN', (row) => row.open),
    number<StreamFigures>('WATERMARK', (row) => row.watermark),
    { title: 'OLDEST', isRight: true, of: (row: StreamFigures) => oldest(row, now) },
    number<StreamFigures>('GAPS', (row) => row.gaps),
    number<StreamFigures>('MOVED', (row) => row.moved),
    number<StreamFigures>('MANUAL', (row) => row.manual),
    number<StreamFigures>('READERS', (row) => row.readers.length),
  ];
  const words = (row: StreamFigures): string[] => [
    safe(row.name),
    `leased ${row.leased}`,
    `open ${row.open}`,
    `settled up to ${row.watermark}`,
    `gaps ${row.gaps}`,
    `manual ${row.manual}`,
  ];
  const head = (line: string): string => output.paint('bold', line);
  return fitted(
    streams,
    [{ columns: [name, ...figures] }, { columns: figures, above: (row) => safe(row.name) }],
    words,
    output.width,
    head,
  );
}

function oldest({ oldestOpen }: StreamFigures, now: number): string {
  return oldestOpen ? ago(now - oldestOpen.leasedAt) : '-';
}

export function* streamLines(stream: StreamFigures, now: number): Generator<string> {
  yield `${safe(stream.name)}: settled up to ${stream.watermark} of ${stream.leased} numbers`;
  yield `  open     ${stream.open}`;
  const open = stream.oldestOpen;
  if (open) {
    const left =
      open.expiresAt > now ? `${span(open.expiresAt - now)} left` : `expired ${ago(now - open.expiresAt)} ago`;
    yield `  oldest   ${open.number} (${safe(open.operationId)}, ${safe(open.kind)}) leased by ${safe(open.owner)}, ${left}`;
  }
  yield `  gaps     ${stream.gaps}`;
  yield `  moved    ${stream.moved}`;
  yield `  manual   ${stream.manual}`;
  yield `  shown    up to ${stream.seal}`;
  yield `  trimmed  below ${stream.trimmedBefore}`;
  yield* readerLines(stream);
}

export function* readerLines({ readers }: StreamFigures): Generator<string> {
  for (const { name, done, distance, movedAt } of readers)
    yield `  reader   ${safe(name)} is done with ${done}, ${distance} behind, last moved ${utc(isoTime(movedAt))}`;
}

export function gapTable(gaps: readonly StreamGap[], output: Output): string[] {
  const columns: Column<StreamGap>[] = [
    { title: 'NUMBER', isRight: true, of: numbersOf },
    { title: 'STATE', of: stateOf },
    { title: 'OPERATION', of: (gap) => safe(gap.operationId) },
    { title: 'KIND', of: (gap) => safe(gap.kind) },
    { title: 'SINCE', of: (gap) => utc(gap.createdAt) },
    { title: 'REASON', of: (gap) => safe(gap.reason) },
  ];
  const words = (gap: StreamGap): string[] => [numbersOf(gap), stateOf(gap), safe(gap.operationId), safe(gap.reason)];
  return fitted(gaps, [{ columns }], words, output.width, (line) => output.paint('bold', line));
}

function numbersOf({ number: first, count }: { number: number; count: number }): string {
  return count === 1 ? String(first) : `${first}-${first + count - 1}`;
}
function stateOf(gap: StreamGap): string {
  if (gap.movedTo !== undefined) return `moved to ${gap.movedTo}`;
  return (gap.fillable ? 'fillable' : 'sealed') + (gap.hasResult ? ', result kept' : '');
}

export function manualTable(items: readonly ManualItem[], output: Output): string[] {
  const columns: Column<ManualItem>[] = [
    { title: 'STREAM', of: (item) => safe(item.stream) },
    { title: 'NUMBER', isRight: true, of: numbersOf },
    { title: 'OPERATION', of: (item) => safe(item.operationId) },
    { title: 'KIND', of: (item) => safe(item.kind) },
    { title: 'TRIES', isRight: true, of: (item) => String(item.attempts) },
    { title: 'RESULT', of: resultOf },
    { title: 'LAST ERROR', of: (item) => safe(item.lastError) },
  ];
  const words = (item: ManualItem): string[] => [
    `${safe(item.stream)} ${numbersOf(item)}`,
    safe(item.operationId),
    `${item.attempts} tries`,
    resultOf(item),
    safe(item.lastError),
  ];
  return fitted(items, [{ columns }], words, output.width, (line) => output.paint('bold', line));
}

function resultOf(item: ManualItem): string {
  if (item.finished !== undefined) return 'finished';
  return item.partial === undefined ? 'none' : 'partial';
}
