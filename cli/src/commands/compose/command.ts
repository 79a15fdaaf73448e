import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';

export const register: Register = (program, deps) => {
  withCommonOptions(program.command('compose'))
    .description('print a compose file that runs all of it without shopctl (compose.yaml)')
    .addHelpText('after', effects('none, starts nothing', '0, 2'))
    .action(async (_options: CommonOptions) => {
      const { composeFile } = await import('../../compose/compose.ts');
      const { renderCompose } = await import('../../compose/render.ts');
      deps.output.result(composeFile(), () => renderCompose().trimEnd());
    });
};
