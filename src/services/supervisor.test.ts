// The supervisor: all start, all stop, and one that breaks its contract keeps none of the others.
import { expect, test } from 'vitest';
import { serviceSite } from '../../test/support/service-site.js';
import type { Service } from './service.js';
import { Supervisor } from './supervisor.js';

function recorded(name: string, calls: string[], changes: Partial<Service> = {}): Service {
  return {
    name,
    start: () => void calls.push(`${name} start`),
    stop: async () => void calls.push(`${name} stop`),
    ...changes,
  };
}

test('O1: starts and stops all, again and again', async () => {
  const calls: string[] = [];
  const { logger } = serviceSite();
  const supervisor = new Supervisor([recorded('a', calls), recorded('b', calls)], logger);
  expect(supervisor.names).toEqual(['a', 'b']);
  supervisor.start();
  expect(await supervisor.stop()).toEqual([]);
  supervisor.start();
  expect(await supervisor.stop()).toEqual([]);
  const once = ['a start', 'b start', 'a stop', 'b stop'];
  expect(calls).toEqual([...once, ...once]);
});

test('O1: stop waits for the slowest', async () => {
  const calls: string[] = [];
  let finish: () => void = () => undefined;
  const slow = recorded('slow', calls, {
    stop: () =>
      new Promise((resolve) => {
        finish = resolve;
      }),
  });
  const { logger } = serviceSite();
  const supervisor = new Supervisor([slow, recorded('fast', calls)], logger);
  let isStopped = false;
  const stopped = supervisor.stop().then(() => void (isStopped = true));
  await Promise.resolve();
  await Promise.resolve();
  expect([calls, isStopped]).toEqual([['fast stop'], false]);
  finish();
  await stopped;
});

test('S12: errors of start and stop are collected and logged, and the others go on', async () => {
  const calls: string[] = [];
  const error = new Error('broken');
  const broken = recorded('broken', calls, {
    start: () => {
      throw error;
    },
    stop: () => {
      throw error;
    },
  });
  const { logger, lines } = serviceSite();
  const supervisor = new Supervisor([broken, recorded('good', calls)], logger);
  supervisor.start();
  expect(await supervisor.stop()).toEqual([error]);
  expect(calls).toEqual(['good start', 'good stop']);
  expect(lines.map((line) => [line.level, line.facts['service']])).toEqual([
    ['error', 'broken'],
    ['error', 'broken'],
  ]);
});
