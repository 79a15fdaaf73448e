import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import type { BuildOptions } from './run-build.ts';

export const register: Register = (program, deps) => {
  withCommonOptions(program.command('build'))
    .description('build the container images of all services and of their migrations, or those named')
    .argument('[image...]', 'gateway, orders, ..., migrations')
    .option('--tag <tag>', 'tag of the images (default: dev, the one that "up --runtime docker" runs)')
    .option('--harness', 'with failpoints and seeded bugs, for chaos; "-harness" is added to the tag')
    .option('--force', 'build also what was built from the same sources, without layers of earlier builds')
    .addHelpText(
      'after',
      effects(
        'images shop/<service>:<tag> (with --harness shop/<service>:<tag>-harness) and shop/migrations:<tag> in the Docker engine of this machine, downloads by npm',
        '0, 1, 2, 3, 130',
      ),
    )
    .action(async (services: string[], options: BuildOptions) => {
      const { runBuild } = await import('./run-build.ts');
      await runBuild(services, options, deps);
    });
};
