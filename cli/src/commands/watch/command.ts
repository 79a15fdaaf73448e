import { effects, type Register } from '../../command-context.ts';
import type { ProjectOptions } from '../../platform/project.ts';

export const register: Register = (program, deps) => {
  program
    .command('watch')
    .description(
      'show a live view of services, edges, sagas, outbox, orders and faults, with keys to act; needs a terminal',
    )
    .option('-p, --project <name>', 'project name (default: shop; SHOPCTL_PROJECT)')
    .addHelpText(
      'after',
      '\nKeys: o order, l load, f fault, c clear, r restart, arrows and Enter an order, ? help, q quit.\nFor programs and logs: "shopctl counters --json", "shopctl status --json".',
    )
    .addHelpText(
      'after',
      effects(
        'those of its keys: orders, faults, restarts; uses the whole terminal and restores it',
        '0, 2 (no terminal), 4, 6, 130, 143',
      ),
    )
    .action(async (options: ProjectOptions) => {
      const { runWatch } = await import('./run-watch.ts');
      await runWatch(options, deps);
    });
};
