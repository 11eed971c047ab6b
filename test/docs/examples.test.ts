// The examples run, and the README and the demonstrations show what they are and what they print.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { withoutFigures } from '../support/figures.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const root = new URL('../../', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, root), 'utf8');
const run = (path: string, cwd: string): string =>
  execFileSync(process.execPath, [fileURLToPath(new URL(path, root))], { encoding: 'utf8', cwd });

/** What a page says that an example prints: the block after `<!-- output: examples/NAME.mjs -->`. */
function shownIn(page: string, example: string): string {
  const [, after = ''] = read(page).split(`<!-- output: ${example} -->`);
  return /^\s*```\n(.*?)```/s.exec(after)?.[1] ?? '';
}

test('the first lease of the README is the example, and runs', () => {
  const code = read('examples/first-lease.mjs').replace(/^\/\/.*\n/, '');
  expect(read('README.md')).toContain(`\`\`\`js\n${code}\`\`\``);
  const folder = temporaryFolder();
  try {
    const first = run('examples/first-lease.mjs', folder.path);
    expect(withoutFigures(first)).toBe(withoutFigures(shownIn('README.md', 'examples/first-lease.mjs')));
    expect(withoutFigures(run('examples/first-lease.mjs', folder.path))).toBe(withoutFigures(first));
  } finally {
    folder.remove();
  }
});

test.each([
  ['examples/takeover.mjs', ['README.md', 'docs/demo.md']],
  ['examples/demo-frozen-store.mjs', ['docs/demo.md']],
  ['examples/demo-deadlock.mjs', ['docs/demo.md']],
  ['examples/demo-sequence.mjs', ['docs/demo.md']],
])('%s prints what %s shows', (example, pages) => {
  const folder = temporaryFolder();
  try {
    const printed = withoutFigures(run(example, folder.path));
    for (const page of pages) expect(withoutFigures(shownIn(page, example))).toBe(printed);
  } finally {
    folder.remove();
  }
});

test('make demo runs the takeover, make run the server', () => {
  expect(read('Makefile')).toMatch(/^demo:.*\n\t@\$\(TIMED\) node examples\/takeover\.mjs$/m);
  expect(read('Makefile')).toMatch(/^run:.*\n\t@\$\(TIMED\) node dist\/cli\/main\.js serve$/m);
});
