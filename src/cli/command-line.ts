// From arguments to an exit code. Only the command that was named is loaded; the others are known by name and summary.
// Whatever goes wrong becomes one line on standard error and a code that says what kind of trouble it was (C1).
import { Command, CommanderError } from 'commander';
import { LeaseError } from '../domain/errors.js';
import { COMMANDS, type CommandEntry } from './command-table.js';
import { Context } from './context.js';
import { EXIT, exitCodeOf } from './exit-codes.js';
import { addGlobalOptions, commandIn, globalOptionsOf } from './global-options.js';
import { cannotBeWritten, Output, tell } from './output.js';

const DESCRIPTION = 'Leases: who may touch what, and until when.';
const MORE = `
Exit codes: 64 usage, 69 store unreachable, 75 refused or not in time,
            76 lease lost, 77 not allowed.

Examples:
  holdfast run deploy -- ./deploy.sh      hold "deploy" while the script runs
  holdfast ls                             who holds what
  holdfast show deploy                    holder, queue and last events
  holdfast COMMAND --help                 more examples`;
/** Help is read on terminals: wider lines than this are hard to follow. */
const HELP_COLUMNS = 100;

export async function runCommandLine(args: readonly string[], version: () => string): Promise<number> {
  const output = new Output();
  const context = new Context(output, args, version);
  const program = programOf(output, context);
  try {
    const wanted = helpAsOption(args);
    if (wanted.includes('--version') && commandIn(wanted) === undefined) {
      output.line(version());
      return EXIT.ok;
    }
    const chosen = commandIn(wanted);
    const entry = COMMANDS.find((one) => one.name === chosen?.name);
    for (const one of COMMANDS) await addCommand(program, one, one === entry, context);
    addGlobalOptions(program);
    program.hook('preAction', (_program, command) => context.use(globalOptionsOf(command)));
    if (chosen === undefined && !wanted.some((word) => word.startsWith('-'))) wanted.push('--help');
    await program.parseAsync(wanted, { from: 'user' });
  } catch (error) {
    const code = report(error, program);
    if (context.exitCode === EXIT.ok) context.exitCode = code; // told to end: the signal's code stands
  }
  try {
    await context.close();
  } catch (error) {
    if (context.exitCode === EXIT.ok) context.exitCode = report(error, program);
  }
  await output.flush();
  if (output.trouble && context.exitCode === EXIT.ok) {
    tell(cannotBeWritten(output.trouble));
    return EXIT.output;
  }
  return context.exitCode;
}

function programOf(output: Output, context: Context): Command {
  return new Command('holdfast')
    .description(DESCRIPTION)
    .usage('[common options] COMMAND …')
    .option('--version', 'print the version')
    .addHelpText('after', MORE)
    .helpCommand(false)
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ subcommandTerm: (command) => command.name() })
    .configureOutput({
      writeOut: (text) => output.write(text),
      writeErr: () => undefined,
      getOutHelpWidth: () => Math.min(context.output.width, HELP_COLUMNS),
      getOutHasColors: () => false,
    });
}

async function addCommand(program: Command, entry: CommandEntry, isChosen: boolean, context: Context): Promise<void> {
  const command = program.command(entry.name).summary(entry.summary).enablePositionalOptions();
  if (!isChosen) return;
  command.description(`${entry.summary.charAt(0).toUpperCase()}${entry.summary.slice(1)}.`);
  (await entry.load()).define(command, context);
}

/** `holdfast help ls` is `holdfast ls --help`. */
function helpAsOption(args: readonly string[]): string[] {
  const first = commandIn(args);
  if (first?.name !== 'help') return [...args];
  return [...args.slice(0, first.at), ...args.slice(first.at + 1), '--help'];
}

function report(error: unknown, program: Command): number {
  if (error instanceof CommanderError) return reportUsage(error, namedIn(program));
  const message = error instanceof Error ? error.message : String(error);
  const isInvalid = error instanceof LeaseError && error.code === 'INVALID_ARGUMENT';
  tell(isInvalid ? asTyped(message, namedIn(program)) : message);
  return exitCodeOf(error);
}

function reportUsage(error: CommanderError, command: Command): number {
  if (error.exitCode === 0) return EXIT.ok;
  if (error.code === 'commander.help') {
    command.outputHelp(); // it has commands of its own and none was named: as for `holdfast` alone
    return EXIT.ok;
  }
  tell(`${usageTrouble(error, command)}: see \`${pathOf(command)} --help\``);
  return EXIT.usage;
}

function usageTrouble({ code, message }: CommanderError, command: Command): string {
  const text = message.replace(/^error: /, '').replace(/\n(?=\(Did you mean)/, ' ');
  if (!command.parent || command.commands.length === 0) return text; // of the program there are too many for a line
  const known = command.commands.map((one) => one.name()).join(', ');
  const has = `${pathOf(command).replace('holdfast ', '')} has ${known}`;
  // A word that is no command goes to the one that is meant when none is named, which takes none.
  if (code === 'commander.excessArguments') return `unknown command '${command.args[0] ?? ''}': ${has}`;
  return code === 'commander.unknownCommand' ? `${text}: ${has}` : text;
}

function pathOf(command: Command): string {
  return command.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name();
}

/** The command that was named: the innermost one. */
function namedIn(command: Command): Command {
  const inner = command.commands.find((one) => one.name() === command.args[0]);
  return inner ? namedIn(inner) : command;
}

/** What is wrong with an option is said by its name in the library; who typed it is told the flag. */
function asTyped(message: string, command: Command): string {
  const [name = ''] = message.split(' ', 1);
  if (command.getOptionValueSource(name) !== 'cli') return message;
  const flag = command.options.find((option) => option.attributeName() === name)?.long;
  return `${flag ?? name}${message.slice(name.length)}`;
}
