// The pages that show the server: every command in them is run, against a server on a port of its own, and prints what the
// page shows.
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { masked } from '../support/command-site.js';
import { freePort } from '../support/servers/server-process.js';
import { play, stepsOf, type Step } from '../support/transcript.js';

const COLUMNS = 100;
const START = 'holdfast serve &';

/** The server listens on another port, its log goes elsewhere, and it ends with the page. */
function onPort(step: Step, port: number): Step {
  if (step.command !== START) return { ...step, command: step.command.replaceAll(':7420', `:${port}`) };
  const isReady = `until curl -sf 127.0.0.1:${port}/readyz > /dev/null; do sleep 0.05; done`;
  const command = `holdfast serve --port ${port} 2> log & trap "kill $!" EXIT; ${isReady}`;
  return { ...step, command };
}

test.each(['README.md', 'docs/guide/server.md'])('W1 C10: every command of %s prints what it shows', async (page) => {
  const port = await freePort();
  const all = stepsOf(readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8'));
  const steps = all.slice(all.findIndex(({ command }) => command === START));
  expect(steps.length).toBeGreaterThan(3);
  const printed = play(
    steps.map((step) => onPort(step, port)),
    COLUMNS,
  );
  const shown = (prints: readonly string[]): string =>
    prints.map((text, i) => `$ ${steps[i]?.command ?? ''}\n${masked(text)}`).join('\n');
  expect(shown(printed).replaceAll(`:${port}`, ':7420')).toBe(shown(steps.map(({ prints }) => prints)));
});
