import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';

const CODES = '0, 1 (Prometheus refused an expression), 2, 3 (the platform runs without alerts), 4';

export const register: Register = (program, deps) => {
  const slo = program
    .command('slo')
    .description('show service level objectives: attained, budget left, and how fast it is spent');

  withCommonOptions(slo.command('ls').alias('list'))
    .description('list the SLOs: objective, attained, budget left, burn rate now')
    .addHelpText('after', effects('none, asks Prometheus', CODES))
    .action(async (options: CommonOptions) => {
      const { runSloList } = await import('./run-slo.ts');
      await runSloList(options, deps);
    });

  withCommonOptions(slo.command('show'))
    .description('show one SLO with its alerts, and when its budget is spent at this pace')
    .argument('<name>', 'name of an SLO: orders-availability')
    .addHelpText('after', effects('none, asks Prometheus', CODES))
    .action(async (name: string, options: CommonOptions) => {
      const { runSloShow } = await import('./run-slo.ts');
      await runSloShow(name, options, deps);
    });
};
