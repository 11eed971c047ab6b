// The bell: what one process rings another hears, and without a bell nothing breaks.
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { temporaryFolder, type TemporaryFolder } from '../../../test/support/temporary-folder.js';
import { Bell } from './bell.js';

let folder: TemporaryFolder;
const bells: Bell[] = [];
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => {
  for (const bell of bells.splice(0)) bell.close();
  folder.remove();
});

function bell(...path: string[]): Bell {
  const made = new Bell(join(folder.path, ...path));
  bells.push(made);
  return made;
}

/** Resolves with the tickets of the next ring that names any. */
function nextRing(listener: Bell): Promise<readonly string[]> {
  return new Promise((resolve) => {
    listener.listen((ids) => {
      if (ids.some((id) => id !== '')) resolve(ids);
    });
  });
}

test('Q3: a ring tells the tickets it names to who listens', async () => {
  const heard = nextRing(bell('leases.db'));
  bell('leases.db').ring(['ticket-one', 'ticket-two']);
  expect(await heard).toEqual(['ticket-one', 'ticket-two']);
});

test('N3: names of streams are heard as they were rung', async () => {
  const heard = nextRing(bell('leases.db-streams'));
  bell('leases.db-streams').ring(['größen/1', '注文']);
  expect(await heard).toEqual(['größen/1', '注文']);
});

test('Q3: a short ring after a long one says nothing of the long one', async () => {
  const [ringer, listener] = [bell('leases.db'), bell('leases.db')];
  ringer.ring(['a-ticket-with-a-long-name', 'and-another-one']);
  const heard = nextRing(listener);
  ringer.ring(['b']);
  expect(await heard).toEqual(['b']);
});

test('Q3: more tickets than fit are cut, not written past the end', async () => {
  const heard = nextRing(bell('leases.db'));
  const ids = Array.from({ length: 500 }, (_, i) => `ticket-number-${String(i).padStart(4, '0')}`);
  bell('leases.db').ring(ids);
  const told = await heard;
  expect(told.slice(0, 200)).toEqual(ids.slice(0, 200));
  expect(told.length).toBeLessThan(300);
});

test('Q3: where no bell can be had, ringing and listening do nothing', () => {
  const nowhere = bell('no', 'such', 'folder', 'leases.db');
  nowhere.ring(['ticket']);
  nowhere.listen(() => expect.unreachable());
  nowhere.close();
});
