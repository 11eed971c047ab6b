// Pages that show a terminal: in a ```console block a line that begins with `$ ` is a command, what follows is what it
// prints. All commands of a page are run in order, by one bash, in a folder of its own that the page calls /srv.
import { spawnSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { MAIN } from './command-site.js';
import { temporaryFolder } from './temporary-folder.js';

export interface Step {
  readonly command: string;
  readonly prints: string;
}

const BLOCK = /^```console\n(.*?)^```$/gms;
const MARK = '\u0001';

export function stepsOf(page: string): Step[] {
  return [...page.matchAll(BLOCK)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map((text) => {
        const [command = '', ...lines] = text.split('\n');
        return { command, prints: lines.join('\n').trim() };
      }),
  );
}

/** What each command printed, on either output. */
export function play(steps: readonly Step[], columns: number): string[] {
  const folder = temporaryFolder();
  try {
    const [bin, here] = [join(folder.path, 'bin'), join(folder.path, 'here')];
    for (const one of [bin, here]) mkdirSync(one);
    const command = `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`;
    writeFileSync(join(bin, 'holdfast'), command, { mode: 0o755 });
    const script = steps.map((step) => `printf '${MARK}'\n{ ${step.command}\n} 2>&1`).join('\n');
    const env = { PATH: `${bin}:${process.env['PATH'] ?? ''}`, HOME: here, COLUMNS: String(columns), TERM: 'dumb' };
    const { stdout } = spawnSync('bash', ['-c', script], { cwd: here, env, encoding: 'utf8', timeout: 100_000 });
    return stdout
      .replaceAll(here, '/srv')
      .split(MARK)
      .slice(1)
      .map((text) => text.trim());
  } finally {
    folder.remove();
  }
}
