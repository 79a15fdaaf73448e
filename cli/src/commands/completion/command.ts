import { Argument } from 'commander';
import { effects, type Register } from '../../command-context.ts';

export const register: Register = (program, deps) => {
  program
    .command('completion')
    .description('print a completion script: source <(shopctl completion bash)')
    .addArgument(new Argument('<shell>').choices(['bash', 'zsh', 'fish']))
    .addHelpText('after', effects('none, prints a script', '0, 2'))
    .action(async (shell: 'bash' | 'zsh' | 'fish') => {
      const { completionScript, describeProgram } = await import('./completion.ts');
      const script = completionScript(shell, describeProgram(program));
      deps.output.result({ shell, script }, (value) => value.script.trimEnd());
    });
};
