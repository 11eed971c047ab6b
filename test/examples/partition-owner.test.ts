// The partition owner of the examples: the partitions of a killed owner are taken over, each with a higher epoch.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { epochIn, Stage } from '../support/stage.js';

const TTL = '1500ms';
let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.clear());

interface Line {
  readonly epoch: number;
  readonly by: string;
}
function recordsOf(partition: string): Line[] {
  const lines = readFileSync(join(stage.folder, `${partition}.ndjson`), 'utf8')
    .split('\n')
    .slice(0, -1);
  return lines.map((line) => JSON.parse(line) as Line);
}

test('A3, S2: every partition goes on under the next owner, and epochs in it never go back', async () => {
  const a = stage.start('partition-owner', 'a', stage.folder, TTL, 'p0', 'p1');
  const before = [await stage.line(/^a owns orders\/p0/), await stage.line(/^a owns orders\/p1/)];
  const b = stage.start('partition-owner', 'b', stage.folder, TTL, 'p1', 'p0');
  await Promise.all([stage.line(/^b does not own orders\/p0/), stage.line(/^b does not own orders\/p1/)]);
  await a.kill();
  const after = [await stage.line(/^b owns orders\/p0/), await stage.line(/^b owns orders\/p1/)];
  for (const [i, match] of after.entries()) expect(epochIn(match)).toBeGreaterThan(epochIn(before[i]!));

  b.process.kill('SIGTERM');
  expect(await b.ended).toBe(143);
  for (const [i, partition] of ['p0', 'p1'].entries()) {
    const records = recordsOf(partition);
    const epochs = records.map(({ epoch }) => epoch);
    expect(epochs).toEqual(epochs.toSorted((one, two) => one - two));
    expect(new Set(epochs)).toEqual(new Set([epochIn(before[i]!), epochIn(after[i]!)])); // `ensure` asked once each
    expect(new Set(records.map(({ by }) => by))).toEqual(new Set(['a', 'b']));
  }
  const leases = await stage.connect();
  await expect(leases.isLocked('orders/p0')).resolves.toBe(false); // SIGTERM gave it back (A9)
});
