import type { Command } from 'commander';
import { faults, targetsOf } from '../../chaos/catalog.ts';
import { experimentIds } from '../../experiments/format/ids.ts';
import { imageSubjects } from '../../images/images.ts';
import { cloneRoot } from '../../platform/project.ts';
import { serviceNames } from '../../topology/services.ts';

/** A command as completion needs it. */
export interface CommandShape {
  readonly name: string;
  readonly description: string;
  /** Long and short options. */
  readonly options: readonly string[];
  readonly subcommands: readonly CommandShape[];
  /** What its arguments can be. */
  readonly values: readonly string[];
}

export type Shell = 'bash' | 'zsh' | 'fish';

/** What arguments of these names complete to. */
const valuesOf: Readonly<Record<string, () => readonly string[]>> = {
  service: () => serviceNames,
  image: () => imageSubjects,
  target: () => [...new Set(faults.flatMap(({ scope }) => targetsOf(scope)))],
  fault: () => faults.map(({ name }) => name),
  experiment: () => experimentIds(cloneRoot()),
};

/** The commands of a program, read from its definitions. */
export function describeProgram(program: Command): CommandShape {
  return {
    name: program.name(),
    description: program.description(),
    options: program.options.flatMap(({ long, short }) => [long, short].filter((flag) => flag !== undefined)),
    subcommands: program.commands.map(describeProgram),
    values: program.registeredArguments.flatMap(
      (argument) => argument.argChoices ?? valuesOf[argument.name()]?.() ?? [],
    ),
  };
}

/** A script for the user's shell; it completes commands, subcommands, options and service names. */
export function completionScript(shell: Shell, program: CommandShape): string {
  return { bash: bashScript, zsh: zshScript, fish: fishScript }[shell](program);
}

/** Every command with the words that lead to it: `up`, `order place`. */
function paths(shape: CommandShape, prefix: readonly string[] = []): readonly { path: string; shape: CommandShape }[] {
  return shape.subcommands.flatMap((sub) => {
    const words = [...prefix, sub.name];
    return [{ path: words.join(' '), shape: sub }, ...paths(sub, words)];
  });
}

function wordsOf({ subcommands, values, options }: CommandShape): string {
  return [...subcommands.map(({ name }) => name), ...values, ...options].join(' ');
}

function bashScript(program: CommandShape): string {
  const cases = paths(program).map(({ path, shape }) => `    '${path}') words='${wordsOf(shape)}' ;;`);
  return `# bash completion for shopctl
_shopctl() {
  local cur=\${COMP_WORDS[COMP_CWORD]} path='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case $word in -*) continue ;; esac
    case "$path $word" in
${paths(program)
  .map(({ path }) => `      ' ${path}' | '${path}') path='${path}' ;;`)
  .join('\n')}
    esac
  done
  case $path in
    '') words='${wordsOf(program)} help' ;;
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -F _shopctl shopctl
`;
}

function zshScript(program: CommandShape): string {
  return `#compdef shopctl
# zsh completion for shopctl, through its own completion for bash
autoload -U +X bashcompinit && bashcompinit
${bashScript(program)}`;
}

function fishScript(program: CommandShape): string {
  const lines = ['# fish completion for shopctl', 'complete -c shopctl -f'];
  for (const { name, description } of program.subcommands) {
    lines.push(`complete -c shopctl -n __fish_use_subcommand -a ${name} -d ${quote(description)}`);
  }
  for (const { path, shape } of paths(program)) {
    const condition = path
      .split(' ')
      .map((word) => `__fish_seen_subcommand_from ${word}`)
      .join('; and ');
    const words = [...shape.subcommands.map(({ name }) => name), ...shape.values].join(' ');
    if (words !== '') lines.push(`complete -c shopctl -n ${quote(condition)} -a ${quote(words)}`);
    for (const option of shape.options) {
      const flag = option.startsWith('--') ? `-l ${option.slice(2)}` : `-s ${option.slice(1)}`;
      lines.push(`complete -c shopctl -n ${quote(condition)} ${flag}`);
    }
  }
  return `${lines.join('\n')}\n`;
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
