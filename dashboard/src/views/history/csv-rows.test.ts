// Rows of CSV are counted right wherever the stream is cut.
import { expect, test } from 'vitest';
import { CsvRows } from './csv-rows.js';

const text = 'id,reason\r\n1,"two\r\nlines, ""quoted"""\r\n2,plain\r\n';

test('rows are counted wherever the pieces are cut', () => {
  const bytes = new TextEncoder().encode(text);
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    const rows = new CsvRows();
    rows.add(bytes.slice(0, cut));
    expect(rows.add(bytes.slice(cut)), `cut at ${cut}`).toBe(3);
  }
});
