import { type CommonOptions, type Register, withCommonOptions } from '../../command-context.ts';

/** Reads only. Exit codes 0 (warnings too), 1 (something would fail). */
export const register: Register = (program, deps) => {
  withCommonOptions(program.command('doctor'))
    .description('check this machine: components, ports, memory, CPU, disk, Node, leftovers of a killed run')
    .action(async (options: CommonOptions) => {
      const { runDoctor } = await import('./run-doctor.ts');
      await runDoctor(options, deps);
    });
};
