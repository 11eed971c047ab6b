// Which services a process runs: over a store of its own all of them, over a server's none that keep house.
import { expect, test } from 'vitest';
import { pass, serviceSite } from '../../test/support/service-site.js';
import { DEFAULT_SETTINGS } from '../domain/settings.js';
import type { Store } from '../stores/store.js';
import { startServices } from './start-services.js';

/** The same store under another kind. */
function asKind(store: Store, kind: string): Store {
  return new Proxy(store, {
    get: (target, key) => {
      if (key === 'kind') return kind;
      const member: unknown = Reflect.get(target, key, target);
      return typeof member === 'function' ? (member.bind(target) as unknown) : member;
    },
  });
}

test.each([
  ['memory', true],
  ['http', false],
])('O1, W2: with a store of kind %s streams are recovered by this process: %s', async (kind, isRecovered) => {
  const { store, clock, logger, lines, owner } = serviceSite();
  const told = { onLag: () => undefined, onSwept: () => undefined };
  const services = startServices({
    ...{ store: asKind(store, kind), clock, logger, owner, settings: DEFAULT_SETTINGS },
    ...told,
  });
  let runs = 0;
  const run = (): Promise<never> => {
    runs += 1;
    return Promise.reject(new Error('this needs the role admin'));
  };
  services.recover({ run });
  services.recover({ run });
  await pass(clock, 600_000, 100);
  await services.stop();
  expect(runs > 0).toBe(isRecovered);
  expect(lines.some(({ level }) => level === 'error')).toBe(isRecovered);
});
