// Every command: its name, what it does in a line, and where it is. A command's file is loaded when it is used, not before.
import type { Command } from 'commander';
import type { Context } from './context.js';

export interface CommandModule {
  /** Adds arguments, options, examples and the action. The common options are added afterwards. */
  define(command: Command, context: Context): void;
}

export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<CommandModule>;
}

export const COMMANDS: readonly CommandEntry[] = [
  { name: 'run', summary: 'hold a lease while a command runs', load: () => import('./commands/run.js') },
  { name: 'acquire', summary: 'take a lease that outlives this command', load: () => import('./commands/acquire.js') },
  { name: 'renew', summary: 'make a lease live longer', load: () => import('./commands/renew.js') },
  { name: 'release', summary: 'give a lease back', load: () => import('./commands/release.js') },
  { name: 'ls', summary: 'who holds what, and who waits', load: () => import('./commands/ls.js') },
  { name: 'show', summary: 'one resource: holder, queue, last events', load: () => import('./commands/show.js') },
  { name: 'history', summary: 'what happened, from the log', load: () => import('./commands/history.js') },
  { name: 'watch', summary: 'events as they happen, one a line', load: () => import('./commands/watch.js') },
  { name: 'revoke', summary: 'take a lease away from its holder', load: () => import('./commands/revoke.js') },
  { name: 'doctor', summary: 'what is wrong, how it shows, what to do', load: () => import('./commands/doctor.js') },
  { name: 'files', summary: 'lease files and folders of a tree', load: () => import('./commands/files.js') },
  { name: 'seq', summary: 'streams of numbers: gaps, readers, recovery', load: () => import('./commands/seq.js') },
  { name: 'token', summary: 'who may use the servers of a store', load: () => import('./commands/token.js') },
  { name: 'config', summary: 'the settings kept in the store', load: () => import('./commands/config.js') },
  { name: 'sweep', summary: 'write down what has expired', load: () => import('./commands/sweep.js') },
  { name: 'backup', summary: 'copy the store into a new file', load: () => import('./commands/backup.js') },
  { name: 'restore', summary: 'put a backup in the place of the store', load: () => import('./commands/restore.js') },
  { name: 'migrate', summary: "bring the store's schema up to date", load: () => import('./commands/migrate.js') },
  { name: 'bench', summary: 'a quick figure for this store', load: () => import('./commands/bench.js') },
  { name: 'serve', summary: 'leases over HTTP, from this store', load: () => import('./commands/serve.js') },
  { name: 'completion', summary: 'completion for a shell', load: () => import('./commands/completion.js') },
  { name: 'whoami', summary: 'which owner, namespace and store apply', load: () => import('./commands/whoami.js') },
];
