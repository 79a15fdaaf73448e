import { effects, type Register, withCommonOptions } from '../../command-context.ts';
import { parseSources } from '../option-values.ts';
import type { SetupOptions } from './run-setup.ts';

const SETUP_HELP = `
PostgreSQL, RabbitMQ and Toxiproxy are installed when they are missing; without Toxiproxy services are wired directly.
What is missing comes from the first source that works: an image pulled where a Docker engine responds, the project's
release downloaded from github.com (its checksum is compared), a build with Go. "shopctl doctor" lists the sources. HTTPS_PROXY and
NO_PROXY are followed; SHOPCTL_RELEASES_URL names a mirror of github.com. --provider installs a component
from that source only, which then must work. "instrumentation" is OpenTelemetry's SDK and instrumentations, for "shopctl up
--instrumentation stock": npm adds them to node_modules, where "npm ci" has not done so. "prometheus", for "shopctl up
--with alerts", and "promtool" come together.

  shopctl setup --with k6
  shopctl setup --yes --provider k6=release,toxiproxy=go

Exit codes: 0; 2; 3 PostgreSQL, RabbitMQ or what --with or --provider named is not available here; 130.`;

export const register: Register = (program, deps) => {
  withCommonOptions(program.command('setup'))
    .description('install the components that are missing here')
    .option('-y, --yes', 'do not ask')
    .option('--dry-run', 'only say what would be installed, and where')
    .option(
      '--with <component>',
      'also this optional component (jaeger, prometheus, promtool, k6, libfaketime, instrumentation); may be repeated',
      collect,
      [],
    )
    .option('--provider <component=kind>', 'install it from this source only; may be repeated', parseSources)
    .addHelpText('after', SETUP_HELP)
    .addHelpText(
      'after',
      effects(
        "downloads or builds missing components into the user's cache directory, packages of --with instrumentation into node_modules, builds dist/; nothing is installed system-wide",
        '0, 2, 3, 130',
      ),
    )
    .action(async (options: SetupOptions) => {
      const { runSetup } = await import('./run-setup.ts');
      await runSetup(options, deps);
    });
};

function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}
