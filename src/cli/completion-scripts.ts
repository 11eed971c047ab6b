// Completion scripts as text: one function of the commands for each shell.

export interface Word {
  readonly name: string;
  readonly summary: string;
  /** What may follow it: inner commands and options. */
  readonly further: readonly { readonly name: string; readonly summary: string }[];
}

export function bashScript(words: readonly Word[]): string {
  const cases = words.map(({ name, further }) => `    ${name}) words='${further.map((one) => one.name).join(' ')}' ;;`);
  return `# holdfast completion for bash
_holdfast() {
  local current=\${COMP_WORDS[COMP_CWORD]} command= words= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case \${COMP_WORDS[i]} in
      --store | --namespace | --owner) ((i++)) ;;
      -*) ;;
      *) command=\${COMP_WORDS[i]}; break ;;
    esac
  done
  case $command in
    '') words='${words.map(({ name }) => name).join(' ')} --store --namespace --owner --json --verbose --help' ;;
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _holdfast holdfast
`;
}

export function zshScript(words: readonly Word[]): string {
  const entry = ({ name, summary }: { name: string; summary: string }): string =>
    `'${name.replaceAll(':', '\\:')}:${quoted(summary)}'`;
  const cases = words.map(({ name, further }) => `    ${name}) words_here=(${further.map(entry).join(' ')}) ;;`);
  return `#compdef holdfast
# holdfast completion for zsh
_holdfast() {
  local -a words_here
  case \${words[2]} in
${cases.join('\n')}
    *) words_here=(${words.map(entry).join(' ')}) ;;
  esac
  _describe holdfast words_here || _files
}
if [ "$funcstack[1]" = _holdfast ]; then _holdfast "$@"; else compdef _holdfast holdfast; fi
`;
}

export function fishScript(words: readonly Word[]): string {
  const lines = words.flatMap(({ name, summary, further }) => [
    `complete -c holdfast -n __fish_use_subcommand -a ${name} -d '${quoted(summary)}'`,
    ...further.map((one) => {
      const what = one.name.startsWith('--') ? `-l ${one.name.slice(2)}` : `-a ${one.name}`;
      return `complete -c holdfast -n '__fish_seen_subcommand_from ${name}' ${what} -d '${quoted(one.summary)}'`;
    }),
  ]);
  return `# holdfast completion for fish\n${lines.join('\n')}\n`;
}

function quoted(text: string): string {
  return text.replaceAll("'", '’');
}
