#!/usr/bin/env node
// The command `holdfast`: its entry. Everything else is loaded from here, and only what the command in hand needs.
import { readFileSync } from 'node:fs';
import { runCommandLine } from './command-line.js';

function version(): string {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(manifest) as { version: string }).version;
}

process.exitCode = await runCommandLine(process.argv.slice(2), version);
