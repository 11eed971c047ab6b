// Holders that stop being there: killed, stopped and continued, or stuck in a loop of their own. Whoever waits takes over
// with a higher epoch when the ttl is over; the old holder knows before it can do anything else, and harms nobody.
import { describe, expect, test } from 'vitest';
import { monotonic, processSite } from '../support/process-site.js';

const TTL_MS = 1_000;
/** What a busy machine may add to a moment. */
const SLACK_MS = 1_500;
const site = processSite();

test('S3, Q3: a holder killed while another process waits is followed within its ttl, by a higher epoch', async () => {
  const [holder, waiter] = await Promise.all([site.start('holder'), site.start('waiter')]);
  holder.order('acquire', 'door', { resources: 'door', ttl: TTL_MS });
  const [epoch] = await holder.words('held door');
  waiter.order('acquire', 'door', { resources: 'door', ttl: TTL_MS, wait: 'forever' });
  await waiter.line('queued');
  const killedAt = monotonic();
  holder.process.kill('SIGKILL');
  const [next, at] = await waiter.words('held door');
  expect(Number(next)).toBeGreaterThan(Number(epoch));
  expect(Number(at) - killedAt).toBeLessThan(TTL_MS + SLACK_MS);
  const types = (await site.log()).map((event) => `${event.type} ${event.owner ?? ''}`);
  expect(types.slice(-2)).toEqual(['lease.expired holder', 'lease.acquired waiter']);
});

describe('stopped past its ttl and continued', () => {
  test('S7, S5: the first line it runs sees the loss; its late release leaves the new holder alone', async () => {
    const [old, next] = await Promise.all([site.start('old'), site.start('next')]);
    old.order('acquire', 'door', { resources: 'door', ttl: TTL_MS });
    const [epoch] = await old.words('held door');
    old.order('stop', 'door');
    await old.line('stopping');
    next.order('acquire', 'door', { resources: 'door', ttl: TTL_MS, wait: 'forever' });
    const [newer] = await next.words('held door');
    expect(Number(newer)).toBeGreaterThan(Number(epoch));

    old.process.kill('SIGCONT');
    expect((await old.words('continued door')).slice(0, 2)).toEqual(['false', 'LEASE_LOST']);
    const [code] = await old.words('lost door');
    expect(code).toBe('LEASE_LOST');
    old.order('release', 'door');
    expect((await old.words('released door'))[0]).toBe('already_ended');

    next.order('check', 'door', { as: 'after' });
    expect(await next.words('checked after')).toEqual(['true', '-']);
    const { holders } = await (await site.look()).show('door');
    expect(holders.map((lease) => [lease.owner, lease.epoch])).toEqual([['next', Number(newer)]]);
    expect((await site.log()).filter((event) => event.type === 'lease.released')).toEqual([]);
  });

  test('S7: stopped from outside it never sees itself as holder again', async () => {
    const [old, next] = await Promise.all([site.start('old'), site.start('next')]);
    old.order('acquire', 'door', { resources: 'door', ttl: TTL_MS });
    await old.line('held door');
    old.order('watch', 'door');
    await old.line('watching');
    old.process.kill('SIGSTOP');
    next.order('acquire', 'door', { resources: 'door', ttl: TTL_MS, wait: 'forever' });
    await next.line('held door');
    old.process.kill('SIGCONT');
    expect(await old.words('resumed door')).toEqual(['false', 'LEASE_LOST']);
    expect((await old.words('lost door'))[0]).toBe('LEASE_LOST');
    old.order('acquire', 'again', { resources: 'door', ttl: TTL_MS, wait: '20s' });
    next.order('release', 'door');
    expect((await next.words('released door'))[0]).toBe('released');
    await old.line('held again');
  });
});

test('S7, S15: an event loop blocked past the ttl hides nothing, and the signal aborts as soon as it runs', async () => {
  const child = await site.start('stuck');
  child.order('acquire', 'door', { resources: 'door', ttl: TTL_MS });
  await child.line('held door');
  child.order('block', 'door', { ms: TTL_MS + 200 });
  const [isHeld, code, wasAborted, freeAt] = await child.words('unblocked door');
  expect([isHeld, code, wasAborted]).toEqual(['false', 'LEASE_LOST', 'false']);
  const [reason, abortedAt] = await child.words('lost door');
  expect(reason).toBe('LEASE_LOST');
  expect(Number(abortedAt) - Number(freeAt)).toBeLessThan(100);
  child.order('release', 'door');
  expect((await child.words('released door'))[0]).toBe('already_ended');
});

test('S7: an event loop blocked past the renewal point, but not past the deadline, costs nothing', async () => {
  const child = await site.start('slow');
  child.order('acquire', 'door', { resources: 'door', ttl: 3 * TTL_MS });
  await child.line('held door');
  child.order('block', 'door', { ms: 2 * TTL_MS });
  expect((await child.words('unblocked door')).slice(0, 3)).toEqual(['true', '-', 'false']);
  await child.line('renewed door');
  child.order('release', 'door');
  expect((await child.words('released door'))[0]).toBe('released');
  const types = (await site.log()).filter((event) => event.resource === 'door').map((event) => event.type);
  expect(types).toEqual(['lease.acquired', 'lease.released']);
});
