// Every command of the runbooks of alerts, run as it stands there, over a store with something to find: held, expired and
// waited-for leases, a stream with a gap and an item for a person. And every runbook has what one needs at night.
import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { connect } from '../../src/index.js';
import { ALERT_RULES } from '../../src/observe/alert-rules.js';
import { openStore } from '../../src/stores/open-store.js';
import { systemClock } from '../../src/system-clock.js';
import { MAIN } from '../support/command-site.js';
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.js';

const pageOf = (name: string): string =>
  readFileSync(fileURLToPath(new URL(`../../docs/runbooks/${name}.md`, import.meta.url)), 'utf8');
const commandsOf = (page: string): string[] =>
  [...page.matchAll(/^```sh\n(.*?)^```$/gms)].flatMap(([, text = '']) => text.trim().split('\n'));

/** What a runbook meets: worker-7 is silent on orders/0, others wait; number 1 is a gap, number 2 waits for a person. */
async function makeScene(url: string): Promise<void> {
  const leases = await connect(url, { services: 'off', owner: 'worker-7' });
  await leases.acquire('orders/short', { ttl: 150, renew: 'manual' });
  await vi.waitFor(async () => expect((await leases.sweep()).expired).toBe(1));
  const held = await leases.acquire('orders/0', { ttl: '1h', renew: 'manual' });
  await leases.withLease('orders/1', async () => undefined);
  held.abandon();
  await leases.shutdown();
  const store = await openStore(url, { clock: systemClock(), namespace: 'default', migrate: 'auto' });
  const { sequences } = store;
  if (!sequences) throw new Error('this store has no streams');
  for (const operationId of ['op-gap', 'op-manual']) {
    await sequences.lease([{ stream: 'orders', operationId, kind: 'order', owner: 'worker-7', count: 1, ttlMs: 100 }]);
  }
  const settled = new Set<string>();
  const settleDue = async (): Promise<number> => {
    const { claimed } = await sequences.claim({ owner: 'recoverer', limit: 10, ttlMs: 60_000, gapsToo: false });
    for (const { stream, operationId, claimEpoch } of claimed) {
      const isManual = operationId === 'op-manual';
      const settlement = isManual
        ? ({ to: 'manual', reason: 'no result', error: 'the service was away' } as const)
        : ({ to: 'gap', reason: 'expired' } as const);
      await sequences.settle([{ stream, operationId, claimEpoch, settlement }]);
      settled.add(operationId);
    }
    return settled.size;
  };
  await vi.waitFor(async () => expect(await settleDue()).toBe(2));
  await store.close();
}

/** Its exit code and what it may say on standard error. A doctor that found something has done its work (1); a holder that
 *  renewed a moment ago is not silent, and is left alone (75). */
function answerOf(command: string): [unknown, unknown] {
  if (command.startsWith('holdfast doctor')) return [expect.toBeOneOf([0, 1]), ''];
  if (command.includes('--if-silent')) return [75, expect.stringContaining('not silent for 5m')];
  return [0, expect.stringMatching(/^(holdfast: nothing .*\n)?$/)];
}

describe('O3: the runbooks of the alerts', () => {
  test.each(ALERT_RULES.map(({ name, severity }) => [name, severity]))(
    'O3: %s has what a runbook needs',
    (name, severity) => {
      const page = pageOf(name);
      expect(page).toContain(`| alert | \`${name}\``);
      expect(page).toContain(`| severity | ${severity} |`);
      expect(page).toMatch(/\| component \| \S/);
      expect(page).toMatch(/\| impact \| \S/);
      const sections = [...page.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
      expect(sections).toEqual(['What you see', 'What not to run', 'What to run', 'How to know it worked']);
      expect(commandsOf(page).length).toBeGreaterThan(3);
    },
  );

  describe.each(ALERT_RULES.map(({ name }) => name))('%s', (name) => {
    let folder: TemporaryFolder;
    let env: NodeJS.ProcessEnv;
    beforeAll(async () => {
      folder = temporaryFolder();
      mkdirSync(join(folder.path, 'bin'));
      const command = join(folder.path, 'bin', 'holdfast');
      writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
      chmodSync(command, 0o755);
      const url = `sqlite:${join(folder.path, 'leases.db')}`;
      env = {
        PATH: `${join(folder.path, 'bin')}:${process.env['PATH'] ?? ''}`,
        HOME: folder.path,
        HOLDFAST_STORE: url,
      };
      await makeScene(url);
    });
    afterAll(() => folder.remove());

    test.each(commandsOf(pageOf(name)))('O3: %s', (command) => {
      const { status, stderr } = spawnSync('sh', ['-c', command], { cwd: folder.path, env, encoding: 'utf8' });
      expect([status, stderr], command).toEqual(answerOf(command));
    });
  });
});
