// A set of objects that know their places.
import { expect, test } from 'vitest';
import { Bag } from './bag.js';

const item = (name: string): { place: number; name: string } => ({ place: -1, name });
const namesIn = (bag: Bag<ReturnType<typeof item>>): string => [...bag].map(({ name }) => name).join('');

test('what was added is there until it is removed, wherever it lay', () => {
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map(item) as [ReturnType<typeof item>, ...ReturnType<typeof item>[]];
  const bag = new Bag<typeof a>();
  for (const one of [a, b!, c!, d!]) bag.add(one);
  expect([bag.remove(b!), namesIn(bag), bag.size]).toEqual([true, 'adc', 3]);
  expect([bag.remove(b!), bag.remove(item('a'))]).toEqual([false, false]);
  expect([bag.remove(c!), bag.remove(a), namesIn(bag)]).toEqual([true, true, 'd']);
  bag.add(b!);
  expect([bag.remove(d!), bag.remove(b!), bag.size, b!.place]).toEqual([true, true, 0, -1]);
});
