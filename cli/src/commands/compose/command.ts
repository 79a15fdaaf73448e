import { type CommonOptions, type Register, withCommonOptions } from '../../command-context.ts';

/** Prints the compose file. Reads nothing, starts nothing. Exit codes 0, 2. */
export const register: Register = (program, deps) => {
  withCommonOptions(program.command('compose'))
    .description('print a compose file that runs all of it without shopctl (compose.yaml)')
    .action(async (_options: CommonOptions) => {
      const { composeFile } = await import('../../compose/compose.ts');
      const { renderCompose } = await import('../../compose/render.ts');
      deps.output.result(composeFile(), () => renderCompose().trimEnd());
    });
};
