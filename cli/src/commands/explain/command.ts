import { type CommonOptions, type Register, withCommonOptions } from '../../command-context.ts';

/** Reads databases, trace backend and logs. Exit codes 0, 1 (no such order), 2, 4, 5 (a database gave no answer). */
export const register: Register = (program, deps) => {
  withCommonOptions(program.command('explain'))
    .description('everything known about an order on one page, the conclusion first')
    .argument('<order>', 'id, or its first 6 characters or more')
    .action(async (id: string, options: CommonOptions) => {
      const { runExplain } = await import('./run-explain.ts');
      await runExplain(id, options, deps);
    });
};
