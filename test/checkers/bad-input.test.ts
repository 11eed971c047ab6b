// What goes wrong around a proof rather than in it: a history cut short, a missing server, settings that make no sense, and
// two runs at once on one machine. Each is one sentence, never a pass and never a crash.
import { spawnSync } from 'node:child_process';
import { mkdtempSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import { connect } from '../../src/connect.js';
import { historyLines, readHistoryLines } from '../../src/testing/store-conformance/history-file.js';
import { readRecords } from '../../src/testing/store-conformance/history-records.js';
import { findBinary } from '../support/servers/server-process.js';
import { goodHistory } from '../support/scripted-history.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const good = await goodHistory();
const lines = historyLines(good, { store: 'memory', seed: 7, commit: 'abc1234' });
const script = fileURLToPath(new URL('../../scripts/prove.mjs', import.meta.url));

describe('a history cut short', () => {
  const last = lines.at(-1) ?? '';
  test.each<[string, string, RegExp]>([
    [
      'its last line is torn',
      [...lines.slice(0, -1), last.slice(0, 20)].join('\n'),
      /^the history is cut short: line \d+ of \d+ is no whole line/,
    ],
    [
      'its last lines are gone',
      lines.slice(0, -5).join('\n'),
      /^the history is cut short: its \d+ lines have no last one/,
    ],
    ['a line in it is gone', lines.toSpliced(5, 1).join('\n'), /^lines of the history are missing: it has \d+ rows/],
    ['its beginning is gone', lines.slice(1).join('\n'), /^this is no recorded history/],
    ['it is empty', '', /^this is no recorded history/],
  ])('is refused with a sentence when %s', (_how, text, sentence) => {
    expect(() => readHistoryLines(text)).toThrow(sentence);
  });

  test('a torn line of a client that was killed is a sentence too', () => {
    const torn = ['{"client":"a","op":"sweep","asked":{},"sent":1}', '{"client":"a","op":"acq'];
    expect(() => readRecords(torn)).toThrow(
      /^the history is cut short: record 2 of 2 is no whole line .* record it again/,
    );
  });

  test('a whole one says which seed and which commit it is of', () => {
    expect(readHistoryLines(lines.join('\n')).about).toEqual({ store: 'memory', seed: 7, commit: 'abc1234' });
  });
});

test('a missing server says what to do', () => {
  expect(() => findBinary('no-such-server')).toThrow(
    'no-such-server was not found: run `make setup`, install it, or skip its tests with HOLDFAST_SKIP',
  );
});

describe('the servers of the tests', () => {
  const folder = temporaryFolder();
  const servers = fileURLToPath(new URL('../../scripts/servers.sh', import.meta.url));
  /** A machine without apt-get that has these. */
  const machineWith = (...names: string[]): string => {
    const path = mkdtempSync(join(folder.path, 'bin-'));
    for (const name of ['bash', 'id']) symlinkSync(findBinary(name), join(path, name));
    for (const name of names) symlinkSync(process.execPath, join(path, name));
    return path;
  };
  const look = (PATH: string, HOLDFAST_SKIP = ''): ReturnType<typeof spawnSync> =>
    spawnSync(findBinary('bash'), [servers], { env: { PATH, HOLDFAST_SKIP }, encoding: 'utf8' });
  afterAll(() => folder.remove());

  test('one that is missing and may not be installed fails the run, with what to install', () => {
    const { status, stderr } = look(machineWith('postgres', 'pgbouncer', 'openssl', 'promtool', 'chromium'));
    expect(status).toBe(69);
    expect(stderr).toContain('apt-get install redis-server');
    expect(stderr).toContain('HOLDFAST_SKIP=');
  });

  test('one that is left out by name is not looked for, and that is said', () => {
    const { status, stderr } = look(machineWith('postgres', 'openssl', 'promtool', 'chromium'), 'redis,pgbouncer');
    expect(status).toBe(0);
    expect(stderr).toBe('setup: without redis-server: HOLDFAST_SKIP\nsetup: without pgbouncer: HOLDFAST_SKIP\n');
  });
});

describe('make prove', () => {
  function prove(env: NodeJS.ProcessEnv, TMPDIR: string): { status: number | null; stderr: string } {
    const { status, stderr } = spawnSync(process.execPath, [script], {
      env: { ...process.env, SEED: '', ...env, TMPDIR },
      encoding: 'utf8',
    });
    return { status, stderr };
  }

  test.each<[string, NodeJS.ProcessEnv, number, string]>([
    [
      'a part that is none',
      { PROVE_ONLY: 'luck' },
      64,
      'prove: PROVE_ONLY names "luck"; the parts are histories, simulation, mutants, faults\n',
    ],
    [
      'a seed',
      { SEED: 'abc' },
      64,
      'prove: it draws fresh seeds, so it takes no SEED: repeat one with the command its report names\n',
    ],
    [
      'a machine without servers',
      { PATH: '/nowhere', HOLDFAST_SKIP: 'postgres,pgbouncer' },
      69,
      'prove: redis not found: run `make setup`, install them, or leave them out with HOLDFAST_SKIP\n',
    ],
  ])('refuses %s', (_what, env, status, stderr) => {
    const folder = temporaryFolder();
    try {
      expect(prove(env, folder.path)).toEqual({ status, stderr });
    } finally {
      folder.remove();
    }
  });

  test('refuses a second run on the machine, and says who has it', async () => {
    const folder = temporaryFolder();
    const leases = await connect(`sqlite:${join(folder.path, 'holdfast-prove.db')}`, { services: 'off' });
    try {
      await leases.acquire('prove', { metadata: { pid: 4711, since: 'noon' } });
      expect(prove({ PROVE_ONLY: 'histories', HOLDFAST_SKIP: 'postgres,redis,pgbouncer' }, folder.path)).toEqual({
        status: 75,
        stderr: 'prove: another run has this machine (process 4711, since noon): wait for it, or end that process\n',
      });
    } finally {
      await leases.shutdown();
      folder.remove();
    }
  });
});
