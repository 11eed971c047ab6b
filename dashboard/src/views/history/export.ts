// The history as a file: everything the filter selects, up to MOST_ROWS, fetched with the token of whoever is signed in and handed
// to the browser as a download. A file that had to be cut says so; one that could not be read to its end is not given at all.
import { get, request, withQuery } from '../../api/client.js';
import type { HistoryPage, LeaseEvent } from '../../api/types.js';
import { CsvRows } from './csv-rows.js';
import type { HistoryFilter } from './history-filter.js';

/** As many as the server puts into one answer. */
export const MOST_ROWS = 100_000;
const PAGE = 1_000;

export type Format = 'csv' | 'json';
export interface Exported {
  readonly blob: Blob;
  readonly rows: number;
  readonly isCut: boolean;
}
type Tell = (rows: number) => void;

export function exportHistory(format: Format, filter: HistoryFilter, tell: Tell, stop: AbortSignal): Promise<Exported> {
  return format === 'csv' ? exportCsv(filter, tell, stop) : exportJson(filter, tell, stop);
}

async function exportCsv(filter: HistoryFilter, tell: Tell, stop: AbortSignal): Promise<Exported> {
  const address = withQuery('/v1/history', { ...filter, format: 'csv' });
  const { body } = await request('GET', address, { accept: 'text/csv' }, stop);
  const counted = new CsvRows();
  const pieces: BlobPart[] = [];
  const reader = body?.getReader();
  for (let piece = await reader?.read(); piece?.done === false; piece = await reader?.read()) {
    pieces.push(piece.value);
    tell(Math.max(0, counted.add(piece.value) - 1));
  }
  const rows = Math.max(0, counted.count - 1);
  return { blob: new Blob(pieces, { type: 'text/csv;charset=utf-8' }), rows, isCut: rows >= MOST_ROWS };
}

async function exportJson(filter: HistoryFilter, tell: Tell, stop: AbortSignal): Promise<Exported> {
  const items: LeaseEvent[] = [];
  let cursor: string | undefined;
  do {
    const page = await get<HistoryPage>('/v1/history', { ...filter, limit: PAGE, cursor }, stop);
    items.push(...page.items);
    ({ cursor } = page);
    tell(items.length);
  } while (cursor !== undefined && items.length < MOST_ROWS);
  const isCut = cursor !== undefined;
  const text = JSON.stringify({ filter, isCut, items }, null, 1);
  return { blob: new Blob([text], { type: 'application/json' }), rows: items.length, isCut };
}

export function download(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  // The browser has its own hold on it once the click is through.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
