// The live table (C4): on a pipe, as documents, without a history, and on a terminal.
import { describe, expect, test } from 'vitest';
import { commandSite, hasTerminals, masked } from '../support/command-site.js';

const site = commandSite();

describe('C4: ls --watch', () => {
  test('on a pipe: a table under its time whenever something happened', async () => {
    await site.run('acquire', 'deploy', '--owner', 'alice');
    const watching = site.start('ls', '--watch');
    await watching.says(/alice/);
    await site.run('renew', 'deploy', '--owner', 'alice');
    await site.run('release', 'deploy', '--owner', 'alice');
    await watching.says(/nothing to show/);
    await site.run('acquire', 'deploy', '--owner', 'bob');
    await watching.says(/bob/);
    watching.process.kill('SIGTERM');
    const { code, out, err } = await watching.ended;
    expect([code, err]).toEqual([143, '']);
    expect(masked(out)).toMatchInlineSnapshot(`
      "0000-00-00 00:00:00Z
      RESOURCE  MODE       OWNER  EPOCH             HELD SINCE            RENEWED    LEFT  QUEUE
      deploy    exclusive  alice  EEEEEEEEEEEEEEEE  0000-00-00 00:00:00Z   ns ago  nnmnns      0

      0000-00-00 00:00:00Z
      nothing to show

      0000-00-00 00:00:00Z
      RESOURCE  MODE       OWNER  EPOCH             HELD SINCE            RENEWED    LEFT  QUEUE
      deploy    exclusive  bob    EEEEEEEEEEEEEEEE  0000-00-00 00:00:00Z   ns ago  nnmnns      0

      "
    `);
  });

  test('with --json one document a line', async () => {
    await site.run('acquire', 'deploy', '--owner', 'alice');
    const watching = site.start('ls', '--watch', '--json');
    await watching.says(/alice.*\n/);
    await site.run('acquire', 'other', '--owner', 'bob');
    await watching.says(/bob.*\n/);
    watching.process.kill('SIGINT');
    const { code, out } = await watching.ended;
    expect(code).toBe(130);
    const documents = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { items: object[] });
    expect(documents.map(({ items }) => items.length)).toEqual([1, 2]);
  });

  test('without a history it looks every second, and says so', async () => {
    await site.run('config', 'set', 'keep_history', 'false');
    const watching = site.start('ls', '--watch');
    await watching.says(/nothing to show/);
    await site.run('acquire', 'deploy', '--owner', 'alice');
    await watching.says(/alice/);
    watching.process.kill('SIGTERM');
    expect((await watching.ended).err).toContain('looking every second instead');
  });

  test.skipIf(!hasTerminals)('on a terminal it draws over itself and leaves it as it was (no `script`)', async () => {
    await site.run('acquire', 'deploy', '--owner', 'alice');
    const watching = site.terminal(80, 'ls', '--watch');
    await watching.says(/1 held.*alice/s);
    await site.run('revoke', 'deploy', '--reason', 'test', '--yes');
    await watching.says(/0 held/);
    watching.process.stdin?.write('\u0003');
    const { out } = await watching.ended;
    expect(out.startsWith('\u001b[?1049h\u001b[?25l')).toBe(true);
    expect(out.endsWith('\u001b[?25h\u001b[?1049l')).toBe(true);
  });
});
