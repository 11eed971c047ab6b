// Whose a spool file is, by its name alone.
import { expect, test } from 'vitest';
import { FakeClock } from '../../testing/fake-clock.js';
import { homeOf, ownerOf, ownName } from './spool-owner.js';

const clock = new FakeClock();
const HOME = homeOf({ kind: 'memory', namespace: 'default' });

test('V7: a process of a container beside this one is not known to be gone; after a reboot it is', () => {
  const [, , , , processes = ''] = ownName(clock, HOME).split('.');
  const name = ownName(clock, HOME).replace(`.${process.pid}.`, '.4194305.'); // more than any process has
  const beside = name.replace(`.${processes}.${HOME}.`, `.${processes}1.${HOME}.`);
  expect(beside).not.toBe(name);
  expect([name, beside].map((one) => ownerOf(one, clock))).toEqual(['dead', 'elsewhere']);
  const [host, , ...rest] = beside.split('.');
  expect(ownerOf([host, 'before', ...rest].join('.'), clock)).toBe('dead');
  expect(ownerOf(name.replace(`.${processes}.${HOME}.`, '.'), clock)).toBe('dead'); // of an older version
});
