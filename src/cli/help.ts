// Examples under a command's help: what to type, and what it does.
import type { Command } from 'commander';

export function examples(command: Command, lines: readonly (readonly [what: string, does: string])[]): Command {
  const width = Math.max(...lines.map(([what]) => what.length));
  const text = lines.map(([what, does]) => `  ${what.padEnd(width)}  ${does}`.trimEnd()).join('\n');
  return command.addHelpText('after', `\nExamples:\n${text}`);
}
