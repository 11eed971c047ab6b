// The types of chromium.mjs, for the tests.
import type { Browser } from 'playwright-core';

export function findChromium(): string;
export function launchChromium(args?: readonly string[]): Promise<Browser>;
