import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';

export const register: Register = (program, deps) => {
  withCommonOptions(program.command('doctor'))
    .description('check this machine: components, ports, memory, CPU, disk, Node, leftovers of a killed run')
    .addHelpText('after', effects('none, reads only', '0 (warnings too), 1 (something would fail)'))
    .action(async (options: CommonOptions) => {
      const { runDoctor } = await import('./run-doctor.ts');
      await runDoctor(options, deps);
    });
};
