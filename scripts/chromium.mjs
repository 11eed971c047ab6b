// The system's Chromium without a window, for the tests of the page, its benchmark and its pictures. Nothing is downloaded: a browser
// that is not there is an error that says what to install.

import { spawnSync } from 'node:child_process';
import { chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

export function findChromium() {
  for (const name of NAMES) {
    const found = spawnSync('/bin/sh', ['-c', 'command -v "$0"', name], { encoding: 'utf8' }).stdout.trim();
    if (found !== '') return found;
  }
  throw new Error(
    `no browser was found (${NAMES.join(', ')}): run \`make setup\`, install the package chromium, or leave its tests out with HOLDFAST_SKIP=chromium`,
  );
}

/** Root has no sandbox to give; everybody else keeps it. */
export function launchChromium(args = []) {
  const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath: findChromium(), args: [...sandbox, ...args] });
}
