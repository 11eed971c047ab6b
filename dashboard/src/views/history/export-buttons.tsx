// CSV and JSON of what the filter selects. One at a time, with how far it is and a way to give up.
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { isAbort } from '../../api/client.js';
import { storeNow } from '../../state/time.js';
import { Button, errorText } from '../../ui/parts.js';
import { download, exportHistory, type Format } from './export.js';
import type { HistoryFilter } from './history-filter.js';

export function ExportButtons({ filter }: { readonly filter: HistoryFilter }) {
  const rows = useSignal<number | undefined>(undefined);
  const said = useSignal('');
  const stop = useRef<AbortController>(undefined);
  useEffect(() => () => stop.current?.abort(), []);
  const begin = async (format: Format): Promise<void> => {
    const mine = new AbortController();
    stop.current = mine;
    rows.value = 0;
    said.value = '';
    const tell = (count: number): void => {
      rows.value = count;
    };
    try {
      const file = await exportHistory(format, filter, tell, mine.signal);
      download(file.blob, `holdfast-history-${stamp()}.${format}`);
      const count = file.rows.toLocaleString();
      said.value = file.isCut ? `Cut: the newest ${count} rows. Narrow the time for the rest.` : `${count} rows saved.`;
    } catch (error) {
      said.value = mine.signal.aborted || isAbort(error) ? 'Given up; nothing was saved.' : errorText(error);
    }
    rows.value = undefined;
  };
  const start = (format: Format): void => {
    if (rows.peek() === undefined) begin(format).catch(() => undefined);
  };
  const isBusy = rows.value !== undefined;
  return (
    <span class="exporting">
      <span class="muted" role="status">
        {isBusy ? `${(rows.value ?? 0).toLocaleString()} rows…` : said.value}
      </span>
      {isBusy && <Button onClick={() => stop.current?.abort()}>Give up</Button>}
      <Button disabled={isBusy} onClick={() => start('csv')} aria-label="Export as CSV">
        CSV
      </Button>
      <Button disabled={isBusy} onClick={() => start('json')} aria-label="Export as JSON">
        JSON
      </Button>
    </span>
  );
}

/** The store's time, as far as a file name may hold it. */
function stamp(): string {
  return new Date(storeNow()).toISOString().slice(0, 19).replaceAll(':', '-');
}
