import { Argument } from 'commander';
import type { Register } from '../../command-context.ts';

/** Prints a script. Exit codes 0, 2. */
export const register: Register = (program, deps) => {
  program
    .command('completion')
    .description('print a completion script: source <(shopctl completion bash)')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionScript, describeProgram } = await import('./completion.ts');
      const script = completionScript(shell, describeProgram(program));
      deps.output.result({ shell, script }, (value) => value.script.trimEnd());
    });
};
