// A history as lines of text, to be kept and checked again: what it is about (store, seed, commit), then its rows, records
// and table, then how many of each there were. Without that last line the history was cut short, and so was its proof: it
// is refused with a sentence, and nothing is checked.
import type { LogRow } from '../../domain/events.js';
import type { Lease } from '../../domain/lease.js';
import { recordLine, type CallRecord, type History, type Table } from './history-records.js';

export interface HistoryAbout {
  readonly store: string;
  readonly seed: number;
  /** The version that recorded it: another one may do something else with the same seed. */
  readonly commit: string;
}

export type HistoryLine =
  | { readonly line: 'about'; readonly about: HistoryAbout }
  | { readonly line: 'row'; readonly row: LogRow }
  | { readonly line: 'record'; readonly record: CallRecord }
  | { readonly line: 'item'; readonly item: Lease }
  | {
      readonly line: 'end';
      readonly table: Omit<Table, 'items'>;
      readonly rows: number;
      readonly records: number;
      readonly items: number;
    };

export function historyLines({ log, records, table }: History, about: HistoryAbout): string[] {
  const { items, ...rest } = table;
  const counts = { rows: log.length, records: records.length, items: items.length };
  return [
    JSON.stringify({ line: 'about', about }),
    ...log.map((row) => JSON.stringify({ line: 'row', row })),
    ...records.map((record) => `{"line":"record","record":${recordLine(record)}}`),
    ...items.map((item) => JSON.stringify({ line: 'item', item })),
    JSON.stringify({ line: 'end', table: rest, ...counts }),
  ];
}

export function readHistoryLines(text: string): { readonly about: HistoryAbout; readonly history: History } {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  const read = lines.map((line, i) => parseLine(line, `line ${i + 1} of ${lines.length}`));
  const [first, last] = [read[0], read.at(-1)];
  if (first?.line !== 'about')
    throw new Error('this is no recorded history: its first line does not say what it is about');
  if (last?.line !== 'end') {
    throw new Error(`the history is cut short: its ${lines.length} lines have no last one that counts them. ${AGAIN}`);
  }
  const log = read.flatMap((one) => (one.line === 'row' ? [one.row] : []));
  const records = read.flatMap((one) => (one.line === 'record' ? [one.record] : []));
  const items = read.flatMap((one) => (one.line === 'item' ? [one.item] : []));
  const isWhole = last.rows === log.length && last.records === records.length && last.items === items.length;
  if (!isWhole) {
    const found = `${log.length} rows, ${records.length} records and ${items.length} of the table`;
    throw new Error(
      `lines of the history are missing: it has ${found}, and had ${last.rows}, ${last.records} and ${last.items}. ${AGAIN}`,
    );
  }
  return { about: first.about, history: { log, records, table: { ...last.table, items } } };
}

const AGAIN = 'Nothing was checked: record it again.';
const SHOWN = 60;

function parseLine(text: string, where: string): HistoryLine {
  try {
    return JSON.parse(text) as HistoryLine;
  } catch {
    throw new Error(`the history is cut short: ${where} is no whole line (${text.slice(0, SHOWN)}…). ${AGAIN}`);
  }
}
