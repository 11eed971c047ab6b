// The archive file: what is in it after an append, after a crash in the middle of one, and what it refuses to be.
import { appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../../test/support/temporary-folder.js';
import type { LeaseEvent, LogRow } from '../domain/events.js';
import { HistoryArchive } from './history-archive.js';

let folder: TemporaryFolder;
let path: string;
beforeEach(() => {
  folder = temporaryFolder();
  path = join(folder.path, 'history.jsonl');
});
afterEach(() => folder.remove());

const row = (n: number, changes: Partial<LogRow> = {}): LogRow => ({
  id: `memory!default!one!${n}`,
  type: 'lease.acquired',
  at: Date.UTC(2026, 0, 1) + n,
  wallAt: Date.UTC(2026, 0, 1) + n,
  namespace: 'default',
  resource: 'orders/0',
  owner: 'alice',
  epoch: n,
  data: {},
  ...changes,
});
const rows = (from: number, to: number): LogRow[] => Array.from({ length: to - from + 1 }, (_, i) => row(from + i));
const lines = (): LeaseEvent[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as LeaseEvent);

async function appended(from: number, to: number): Promise<string | undefined> {
  const archive = await HistoryArchive.open(path, 'default');
  const found = archive.lastId;
  await archive.append(rows(from, to));
  await archive.close();
  return found;
}

test('H4: rows become events, one JSON a line, and the next opening goes on after the last', async () => {
  expect(await appended(1, 3)).toBeUndefined();
  expect(await appended(4, 5)).toBe('memory!default!one!3');
  expect(lines().map((event) => event.epoch)).toEqual([1, 2, 3, 4, 5]);
  expect(lines()[0]).toMatchObject({
    id: 'memory!default!one!1',
    at: '2026-01-01T00:00:00.001Z',
    sentence: 'Acquired orders/0, epoch 1',
    actor: 'alice',
  });
});

test('H4: wherever a crash cuts the last append, whole lines stay and the torn one goes', async () => {
  await appended(1, 2);
  const whole = readFileSync(path);
  const firstEnd = whole.indexOf('\n') + 1;
  for (let cut = 0; cut <= whole.length; cut += 1) {
    writeFileSync(path, whole.subarray(0, cut));
    const archive = await HistoryArchive.open(path, 'default');
    const kept = cut === whole.length ? 2 : cut >= firstEnd ? 1 : 0;
    expect(archive.lastId).toBe(kept === 0 ? undefined : `memory!default!one!${kept}`);
    await archive.append(rows(kept + 1, 2));
    await archive.close();
    expect(readFileSync(path).equals(whole)).toBe(true);
  }
});

test('H4: zeros that a power cut left at the end go as well', async () => {
  await appended(1, 1);
  truncateSync(path, readFileSync(path).length + 5_000);
  expect(await appended(2, 2)).toBe('memory!default!one!1');
  expect(lines()).toHaveLength(2);
  writeFileSync(path, Buffer.alloc(4_096));
  expect(await appended(1, 1)).toBeUndefined();
  expect(lines()).toHaveLength(1);
});

test('H4: lines longer than one look at the end of the file are found', async () => {
  const archive = await HistoryArchive.open(path, 'default');
  await archive.append([row(1), row(2, { data: { text: 'é'.repeat(100_000) } })]);
  await archive.close();
  appendFileSync(path, `{"id":"${'x'.repeat(300_000)}`);
  expect(await appended(3, 3)).toBe('memory!default!one!2');
  expect(lines()).toHaveLength(3);
});

describe('H4: what is no archive of this namespace is refused and left as it is', () => {
  test.each([
    ['text', 'dear diary\n', /no event/],
    ['text without an end', 'dear diary', /something else/],
    ['JSON that is no event', '{"a":1}\n', /no event/],
    ['null', 'null\n', /no event/],
    ['an empty line', '\n', /no event/],
    ['text after a line of ours', '{"id":"x","namespace":"default"}\nnonsense\n', /no event/],
    ['another namespace', '{"id":"x","namespace":"other"}\n{"id":"y","namespace":"other"}\n', /namespace "other"/],
  ])('%s', async (_what, content, message) => {
    writeFileSync(path, content);
    await expect(HistoryArchive.open(path, 'default')).rejects.toThrow(message);
    expect(readFileSync(path, 'utf8')).toBe(content);
  });

  test('a folder, and a path without one', async () => {
    await expect(HistoryArchive.open(folder.path, 'default')).rejects.toThrow(/EISDIR/);
    await expect(HistoryArchive.open(join(folder.path, 'no', 'where'), 'default')).rejects.toThrow(/ENOENT/);
    expect(existsSync(join(folder.path, 'no'))).toBe(false);
  });
});

test('H4: an append beside somebody else’s is an error', async () => {
  const archive = await HistoryArchive.open(path, 'default');
  appendFileSync(path, 'x');
  await expect(archive.append(rows(1, 1))).rejects.toThrow(/somebody else/);
  await archive.close();
});
