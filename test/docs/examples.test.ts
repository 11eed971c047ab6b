// The examples run, and the README shows what they are and what they print.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const run = (path: string, cwd: string): string =>
  execFileSync(process.execPath, [fileURLToPath(new URL(path, root))], { encoding: 'utf8', cwd });

/** Epochs, times and waits differ from run to run; the words do not. */
function withoutFigures(text: string): string {
  return text
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replaceAll(/\d{6,}/g, 'EPOCH')
    .replaceAll(/in \d+ ms/g, 'in N ms')
    .trim();
}

test('the first lease of the README is the example, and runs', () => {
  const code = read('examples/first-lease.mjs').replace(/^\/\/.*\n/, '');
  expect(read('README.md')).toContain(`\`\`\`js\n${code}\`\`\``);
  const folder = temporaryFolder();
  try {
    const first = run('examples/first-lease.mjs', folder.path);
    expect(withoutFigures(first)).toBe('worker-1 has epoch EPOCH; worker-2 is refused: held by worker-1');
    expect(withoutFigures(run('examples/first-lease.mjs', folder.path))).toBe(withoutFigures(first));
  } finally {
    folder.remove();
  }
});

test('the session of the README is what make run prints', () => {
  const shown = /<!-- session:.*?-->\s*```\n(.*?)```/s.exec(read('README.md'))?.[1] ?? '';
  const folder = temporaryFolder();
  try {
    expect(withoutFigures(run('examples/session.mjs', folder.path))).toBe(withoutFigures(shown));
  } finally {
    folder.remove();
  }
});
