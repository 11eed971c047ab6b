// History as CSV (RFC 4180), streamed a page at a time as the client reads: what is kept here is one page, whatever the length
// of the log. A cell that a spreadsheet would take for a formula is kept from it by an apostrophe.
import type { LeaseEvent } from '../domain/events.js';
import { LIMITS } from '../domain/limits.js';

const COLUMNS = [
  ...(['id', 'type', 'at', 'wallAt', 'namespace', 'resource', 'leaseId', 'owner', 'epoch', 'from', 'to'] as const),
  ...(['actor', 'reason', 'error', 'sentence', 'data'] as const),
];
/** Rows of one answer; `cursor` with the last row's id goes on. */
const MOST_ROWS = 100_000;

export interface HistoryPage {
  readonly items: readonly LeaseEvent[];
  readonly cursor?: string | undefined;
}

/** `next` answers the page that begins at a cursor. The first is read before this answers, so that a store that is away can still
 *  be told as a problem; a later one that fails is given to `cut`, because a body that just ended would look whole. */
export async function historyCsv(
  limit: number | undefined,
  next: (cursor: string | undefined, limit: number) => Promise<HistoryPage>,
  cut: (error: unknown) => void,
): Promise<ReadableStream<Uint8Array>> {
  const encoder = new TextEncoder();
  let left = Math.min(limit ?? MOST_ROWS, MOST_ROWS);
  const read = (cursor?: string): Promise<HistoryPage> => next(cursor, Math.min(left, LIMITS.rowsPerStep));
  let first: HistoryPage | undefined = await read();
  let cursor: string | undefined;
  const readOn = async (): Promise<HistoryPage> => {
    try {
      return await read(cursor);
    } catch (error) {
      cut(error);
      return { items: [] };
    }
  };
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const header = first ? `${COLUMNS.join(',')}\r\n` : '';
      const page = first ?? (await readOn());
      first = undefined;
      controller.enqueue(encoder.encode(header + page.items.map(lineOf).join('')));
      left -= page.items.length;
      ({ cursor } = page);
      if (cursor === undefined || left <= 0) controller.close();
    },
  });
}

function lineOf(event: LeaseEvent): string {
  return `${COLUMNS.map((column) => cell(event[column])).join(',')}\r\n`;
}

function cell(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const isFormula = typeof value === 'string' && /^[=+\-@\t\r]/.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
