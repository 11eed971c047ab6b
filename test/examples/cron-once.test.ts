// The cron job of the examples: once in each period, also when the process that runs it is killed half way.
import { afterEach, beforeEach, expect, test } from 'vitest';
import { epochIn, Stage } from '../support/stage.js';

const MACHINES = ['a', 'b', 'c'] as const;
const TERMS = ['1s', '6s', 300] as const;
let stage: Stage;
beforeEach(() => {
  stage = new Stage();
});
afterEach(() => stage.clear());

test('Q6, A4: killed half way the job is run by another, once; in the next period it runs once again', async () => {
  const machines = MACHINES.map((owner) => ({ owner, ...stage.start('cron-once', owner, ...TERMS) }));
  const running = await stage.line(/^(\w): running/);
  const victim = machines.find(({ owner }) => owner === running[1]);
  await victim?.kill();

  const others = machines.filter((machine) => machine !== victim);
  expect(await Promise.all(others.map(({ ended }) => ended))).toEqual([0, 0]);
  const first = stage.lines();
  const [from, to] = first.filter((line) => line.includes('running, epoch'));
  expect(Number(/\d+$/.exec(to ?? '')?.[0])).toBeGreaterThan(epochIn(running));
  expect(from).toBe(running.input);
  expect(first.filter((line) => line.endsWith(': done'))).toHaveLength(1);
  expect(first.filter((line) => line.endsWith(': done already'))).toHaveLength(1);
  expect(first).not.toContain(`${running[1]}: done`);

  const leases = await stage.connect();
  await expect(leases.isLocked('cron/nightly-report')).resolves.toBe(true); // nobody holds it: minHold does
  await leases.withLease('cron/nightly-report', { wait: 'forever' }, async () => undefined); // the period is over
  const again = MACHINES.map((owner) => stage.start('cron-once', owner, ...TERMS));
  expect(await Promise.all(again.map(({ ended }) => ended))).toEqual([0, 0, 0]);
  const second = stage.lines().slice(first.length);
  expect(second.filter((line) => line.endsWith(': done'))).toHaveLength(1);
  expect(second.filter((line) => line.endsWith(': done already'))).toHaveLength(2);
});
