import { instrumentationKinds } from '@shop/kit/telemetry/instrumentation.ts';
import { type Command, Option } from 'commander';
import { type CommandDeps, effects, type Register, withCommonOptions } from '../../command-context.ts';
import { runtimeKinds } from '../../platform/service-runtime.ts';
import {
  parseInspect,
  parseParts,
  parsePort,
  parseProviders,
  parseReplicas,
  parseSeconds,
  parseSeededBugNames,
} from '../option-values.ts';
import { withReason } from '../reason.ts';
import type { UpOptions } from './run-up.ts';

export const register: Register = (program: Command, deps: CommandDeps) => {
  withReason(withCommonOptions(program.command('up')))
    .description(
      'start the platform, or what is named and its dependencies, and wait until it is ready; on a running one: apply what changed (code, migrations, settings)',
    )
    .argument('[service...]', 'only these services and what they depend on')
    .option('--wait-timeout <seconds>', 'readiness limit (default: 180; SHOPCTL_WAIT_TIMEOUT)', parseSeconds)
    .option(
      '--replicas <service=count>',
      'replicas of a service until "down"; may be repeated; see also scale',
      parseReplicas,
    )
    .option('--provider <component=kind>', 'forces where a component comes from; may be repeated', parseProviders)
    .option(
      '--port <port>',
      'where all replicas of the gateway listen (default: 8080, or the next free one; 0: any free one; SHOPCTL_PORT)',
      parsePort,
    )
    .option('--direct', 'wire services without Toxiproxy')
    .option('--no-direct', 'wire services through Toxiproxy again')
    .addOption(
      new Option('--runtime <kind>', 'what services run as (default: process; SHOPCTL_RUNTIME)').choices(runtimeKinds),
    )
    .addOption(
      new Option(
        '--instrumentation <kind>',
        'who makes spans: the services, or OpenTelemetry (default: manual; SHOPCTL_INSTRUMENTATION)',
      ).choices(instrumentationKinds),
    )
    .option(
      '--with <part>',
      'also run this until it is left out or the platform ends: alerts (Prometheus; SHOPCTL_WITH)',
      parseParts,
    )
    .option('--without <part>', 'end that', parseParts)
    .option(
      '--seed-bug <bug>',
      'start a service with a seeded bug, to test the checks; may be repeated',
      parseSeededBugNames,
    )
    .option(
      '-w, --watch',
      'stay, and bring each saved source into the platform; Ctrl-C ends it, and the platform if this command started it',
    )
    .option('--audit', 'audit recent orders every 10 s, for shop.audit.violations (see "audit --watch")')
    .option('--no-audit', 'end that')
    .option(
      '--inspect <service[=port]>',
      'replicas of a service wait for a debugger on 127.0.0.1 (default: 9229, or the next free ones), and up for them without a limit; may be repeated',
      parseInspect,
    )
    .option(
      '--point-of-no-return',
      'apply contract migrations also where they end the way back to a release that is kept; recorded in "changes"',
    )
    .option('--no-build', 'do not rebuild bundles and images whose sources changed')
    .addHelpText(
      'after',
      effects(
        'builds stale bundles into dist/, starts the supervisor and through it the components and services, listens on loopback ports only, writes .shop/<project>/',
        '0, 1, 2, 3, 4, 124, 130',
      ),
    )
    .action(async (services: string[], options: UpOptions) => {
      const { continueAsBuilt } = await import('../../platform/continue-as-built.ts');
      const { runUp } = await import('./run-up.ts');
      const { env, output } = deps;
      if (options.build) await continueAsBuilt(deps.projectFrom(options), { env, say: (line) => output.note(line) });
      await runUp(services, options, deps);
    });
};
