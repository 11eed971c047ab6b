// What is counted at the door: rates, waits, tickets; by a clock that is told to move.
import { describe, expect, test } from 'vitest';
import { LeaseError } from '../../domain/errors.js';
import { FakeClock } from '../../testing/fake-clock.js';
import type { Caller } from '../context.js';
import { RateLimit } from './rate-limit.js';
import { TicketLimit } from './ticket-limit.js';
import { refuseTokenInUrl, withoutTokens } from './token-in-url.js';
import { Waits } from './waits.js';

const caller = (tokenId: string | undefined): Caller => ({
  tokenId,
  name: 'n',
  role: 'write',
  prefix: undefined,
  owner: undefined,
});
const limited: unknown = expect.objectContaining({ code: 'RATE_LIMITED' });

describe('W5: limits', () => {
  test('W5: a bucket gives its burst, then its rate, and says when to come back', async () => {
    const clock = new FakeClock();
    const rate = new RateLimit(clock, 2, 3);
    expect([1, 2, 3].map(() => rate.take('a'))).toEqual([undefined, undefined, undefined]);
    expect(rate.take('a')).toMatchObject({ code: 'RATE_LIMITED', retryable: true, details: { retryAfterMs: 500 } });
    expect(rate.take('b')).toBeUndefined();
    await clock.advance(499);
    expect(rate.take('a')).toEqual(limited);
    await clock.advance(1);
    expect(rate.take('a')).toBeUndefined();
    expect(rate.take('a')).toEqual(limited);
    await clock.advance(60_000);
    expect([1, 2, 3, 4].map(() => rate.take('a') === undefined)).toEqual([true, true, true, false]);
  });

  test('W5: more callers than are remembered do not make it forget the one that asks too often at once', () => {
    const rate = new RateLimit(new FakeClock(), 1, 1);
    for (let n = 0; n < 10_000; n += 1) expect(rate.take(`caller-${n}`)).toBeUndefined();
    expect(rate.take('caller-9999')).toEqual(limited);
    for (let n = 0; n < 100; n += 1) rate.take(`late-${n}`);
    expect(rate.take('late-99')).toEqual(limited);
  });

  test('W5: one wait too many is refused, of a token and in all', async () => {
    const open = new AbortController().signal;
    const waits = new Waits({ onEnd: () => () => undefined }, { most: 3, mostPerToken: 2 }, open);
    const stays = [waits.begin(caller('a'), open), waits.begin(caller('a'), open)];
    expect(() => waits.begin(caller('a'), open)).toThrow(limited);
    stays.push(waits.begin(caller('b'), open));
    expect(() => waits.begin(caller('c'), open)).toThrow(limited);
    stays[0]?.end();
    stays[0]?.end();
    expect(waits.count).toBe(2);
    expect(await waits.run(caller('a'), open, () => Promise.resolve('done'))).toBe('done');
    expect(waits.count).toBe(2);
  });

  test('W5: while no token was made everybody is one caller, who may have all there is', () => {
    const open = new AbortController().signal;
    const waits = new Waits({ onEnd: () => () => undefined }, { most: 3, mostPerToken: 1 }, open);
    for (let n = 0; n < 3; n += 1) waits.begin(caller(undefined), open);
    expect(() => waits.begin(caller(undefined), open)).toThrow(limited);
  });

  test('W5, W3: a wait ends with its client, its token, or the server, and says which', async () => {
    const [client, drain] = [new AbortController(), new AbortController()];
    const ends = new Set<(why: LeaseError) => void>();
    const access = {
      onEnd: (_: Caller, ended: (why: LeaseError) => void) => {
        ends.add(ended);
        return () => ends.delete(ended);
      },
    };
    const waits = new Waits(access, { most: 9, mostPerToken: 9 }, drain.signal);
    const wait = (signal: AbortSignal): Promise<never> =>
      new Promise((_, reject) => {
        signal.addEventListener('abort', () => reject(new LeaseError('ACQUIRE_ABORTED', 'aborted')));
      });
    const revoked = waits.run(caller('a'), new AbortController().signal, wait);
    for (const ended of ends) ended(new LeaseError('UNAUTHORIZED', 'revoked'));
    await expect(revoked).rejects.toMatchObject({ code: 'UNAUTHORIZED' });
    expect(ends.size).toBe(0);
    const left = waits.run(caller('a'), client.signal, wait);
    client.abort('gone');
    await expect(left).rejects.toMatchObject({ code: 'ACQUIRE_ABORTED' });
    const drained = waits.run(caller('a'), new AbortController().signal, wait);
    drain.abort();
    await expect(drained).rejects.toMatchObject({ code: 'SHUTTING_DOWN' });
    expect(() => waits.begin(caller('a'), new AbortController().signal)).toThrow(
      expect.objectContaining({ code: 'SHUTTING_DOWN' }),
    );
    expect(waits.count).toBe(0);
  });

  test('W5: tickets of a token are counted while they live', async () => {
    const clock = new FakeClock();
    const tickets = new TicketLimit(clock, 2);
    const reserve = (id: string, token = 'a'): boolean => tickets.reserve(caller(token), id);
    expect([reserve('t1'), reserve('t2'), reserve('t1')]).toEqual([true, true, false]);
    expect(() => reserve('t3')).toThrow(limited); // asked for together: counted before any is answered
    expect(reserve('t3', 'b')).toBe(true);
    tickets.queued(caller('a'), 't1');
    tickets.gone(caller('a'), 't2');
    expect(reserve('t3')).toBe(true);
    tickets.queued(caller('a'), 't3');
    await clock.advance(6_000);
    tickets.queued(caller('a'), 't1');
    await clock.advance(6_000);
    expect(reserve('t4')).toBe(true); // t3 has died, t1 was refreshed
    expect(() => reserve('t5')).toThrow(limited);
  });

  test('W3: a token in an address is refused, and no log line keeps one', () => {
    const token = `hf_${'a'.repeat(16)}_${'B'.repeat(43)}`;
    const bad = [`/v1/leases?token=x`, `/v1/events?access_token=1&x=2`, `/v1/x?q=${token}`, `/v1/${token}`, `/?TOKEN=`];
    bad.push(`/v1/x?q=${token.replace('hf_', 'hf%5F')}`);
    for (const url of bad)
      expect(refuseTokenInUrl(`http://localhost${url}`), url).toMatchObject({ details: { httpStatus: 400 } });
    for (const url of ['/v1/tokens', '/v1/leases?prefix=token', '/v1/x?q=%ff', '/v1/half_life'])
      expect(refuseTokenInUrl(`http://localhost${url}`), url).toBeUndefined();
    expect(withoutTokens(`GET /x?q=${token} and ${token}`)).toBe('GET /x?q=hf_*** and hf_***');
  });
});
