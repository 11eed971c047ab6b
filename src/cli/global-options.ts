// The options every command takes, before or after its name. A command that gives one of these names a meaning of its own
// (`ls --owner`) keeps it; the common one is then written before the command.
import { Option, type Command } from 'commander';

export interface GlobalOptions {
  store?: string;
  namespace?: string;
  owner?: string;
  json?: boolean;
  verbose?: boolean;
}

const GROUP = 'Common options:';
/** Those that are followed by a value. */
const WITH_VALUE = ['--store', '--namespace', '--owner'];

function commonOptions(): Option[] {
  return [
    new Option('--store <url>', 'the store: sqlite:/path/leases.db (env HOLDFAST_STORE)'),
    new Option('--namespace <ns>', 'the closed world of names to look at (env HOLDFAST_NAMESPACE)'),
    new Option('--owner <id>', 'who holds (env HOLDFAST_OWNER; else user@host)'),
    new Option('--json', 'one JSON document on standard output, or one a line'),
    new Option('-v, --verbose', 'say which store, namespace and owner are used'),
  ].map((option) => option.helpGroup(GROUP));
}

const added = new WeakMap<Command, Set<string>>();

export function addGlobalOptions(command: Command): void {
  const names = new Set<string>();
  for (const option of commonOptions()) {
    if (command.options.some((one) => one.long === option.long)) continue;
    command.addOption(option);
    names.add(option.attributeName());
  }
  added.set(command, names);
  for (const inner of command.commands) addGlobalOptions(inner);
}

/** What was given, the innermost command's word last. */
export function globalOptionsOf(command: Command): GlobalOptions {
  const outer = command.parent ? globalOptionsOf(command.parent) : {};
  const own = Object.entries(command.opts()).filter(([key]) => added.get(command)?.has(key) === true);
  return { ...outer, ...(Object.fromEntries(own) as GlobalOptions) };
}

/** The first word that is neither an option nor an option's value. */
export function commandIn(args: readonly string[]): { name: string; at: number } | undefined {
  for (let at = 0; at < args.length; at += 1) {
    const word = args[at] as string;
    if (word === '--') return undefined;
    if (WITH_VALUE.includes(word)) at += 1;
    else if (!word.startsWith('-')) return { name: word, at };
  }
  return undefined;
}
