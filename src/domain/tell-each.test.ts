// Listeners are told each for itself: what one throws, or sends away, is no matter of the others.
import { expect, test } from 'vitest';
import { tellEach } from './tell-each.js';

test('S12: one listener that throws keeps nobody from being told', () => {
  const told: string[] = [];
  const listeners = new Set(['first', 'second', 'third']);
  tellEach(listeners, (name) => {
    told.push(name);
    if (name !== 'third') throw new Error(name);
  });
  expect(told).toEqual(['first', 'second', 'third']);
});

test('a listener that was sent away meanwhile is not told, and one that came is not told of what was before', () => {
  const told: string[] = [];
  const listeners = new Set(['first', 'second']);
  tellEach(listeners, (name) => {
    told.push(name);
    listeners.delete('second');
    listeners.add('late');
  });
  expect(told).toEqual(['first']);
});
