// holdfast completion (C7): a script for bash, zsh or fish that completes commands and options. It is made from the
// commands themselves, so it knows what they know.
import { Argument, Command } from 'commander';
import { COMMANDS } from '../command-table.js';
import { bashScript, fishScript, zshScript, type Word } from '../completion-scripts.js';
import { Context } from '../context.js';
import { addGlobalOptions } from '../global-options.js';
import { examples } from '../help.js';

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

export function define(command: Command, context: Context): void {
  command
    .addArgument(new Argument('<shell>', 'which').choices(Object.keys(SCRIPTS)))
    .action(async (shell: keyof typeof SCRIPTS) => {
      const script = SCRIPTS[shell](await allWords(context));
      if (context.isJson) context.output.json({ shell, script });
      else context.output.write(script);
    });
  examples(command, [
    ['source <(holdfast completion bash)', 'in ~/.bashrc'],
    ['holdfast completion zsh > "${fpath[1]}/_holdfast"', 'for zsh'],
    ['holdfast completion fish > ~/.config/fish/completions/holdfast.fish', 'for fish'],
  ]);
}

async function allWords(context: Context): Promise<readonly Word[]> {
  const words: Word[] = [];
  for (const { name, summary, load } of COMMANDS) {
    const command = new Command(name);
    (await load()).define(command, new Context(context.output, [name, '--', 'true'], context.version)); // nothing of it is carried out
    addGlobalOptions(command);
    const inner = command.commands.map((one) => ({ name: one.name(), summary: one.summary() }));
    const options = [command, ...command.commands]
      .flatMap((one) => one.options)
      .map(({ long, description }) => ({ name: long ?? '', summary: description }));
    const unique = new Map([...inner, ...options].map((one) => [one.name, one.summary]));
    words.push({ name, summary, further: [...unique].map(([one, text]) => ({ name: one, summary: text })) });
  }
  return words;
}
