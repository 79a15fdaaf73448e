import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';

export const register: Register = (program, deps) => {
  withCommonOptions(program.command('explain'))
    .description('show everything known about an order on one page, the diagnosis first')
    .argument('<order>', 'id, or its first 6 characters or more')
    .addHelpText(
      'after',
      effects(
        'none, reads databases, trace store and logs',
        '0, 1 (unknown order), 2, 4, 5 (a database did not respond)',
      ),
    )
    .action(async (id: string, options: CommonOptions) => {
      const { runExplain } = await import('./run-explain.ts');
      await runExplain(id, options, deps);
    });
};
