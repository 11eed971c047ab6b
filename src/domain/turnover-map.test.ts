// A map for what comes and goes: the same answers as a Map's, in the same order, whatever was done before.
import { expect, test } from 'vitest';
import { TurnoverMap } from './turnover-map.js';

test('it answers like a Map, and has its order', () => {
  const [turnover, plain] = [new TurnoverMap<number>(), new Map<string, number>()];
  let seed = 7;
  const draw = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below;
  for (let step = 0; step < 5_000; step += 1) {
    const key = `k${draw(40)}`;
    if (draw(2) === 0) {
      turnover.set(key, step);
      plain.set(key, step);
    } else {
      expect(turnover.take(key)).toBe(plain.get(key));
      plain.delete(key);
    }
    expect([turnover.size, turnover.get(key)]).toEqual([plain.size, plain.get(key)]);
  }
  expect([...turnover.keys()]).toEqual([...plain.keys()]);
  expect([...turnover.values()]).toEqual([...plain.values()]);
});

test('what was taken while somebody goes through it is not met', () => {
  const turnover = new TurnoverMap<string>();
  for (const key of ['a', 'b', 'c']) turnover.set(key, key);
  const met: string[] = [];
  for (const value of turnover.values()) {
    met.push(value);
    turnover.take('b');
  }
  expect(met).toEqual(['a', 'c']);
});
