import { InvalidArgumentError, Option } from 'commander';
import { type CommonOptions, effects, type Register, withCommonOptions } from '../../command-context.ts';
import { exportFormats } from '../../deploy/export/formats.ts';
import { followers, strategies } from '../../deploy/run.ts';
import { parseDuration, parsePositive } from '../option-values.ts';
import { type ReasonOptions, withReason } from '../reason.ts';
import type { DeployOptions, HistoryOptions, RollbackOptions, StatusOptions } from './run-deploy.ts';
import type { ExportOptions } from './run-deploy-export.ts';
import type { PlanOptions } from './run-deploy-plan.ts';
import type { DeployReportOptions } from './run-deploy-report.ts';

const CHANGES =
  'starts and ends processes of the running platform, writes .shop/<project>/{deploys.jsonl,deploys/,overrides.json,changes.jsonl}';
const ENDS =
  '0 (done), 1 (rolled back by what was observed, or it cannot be built), 2, 3, 4, 5 (rolled back or held, as evidence was missing), 6 (a fault is active, or it could not be rolled back), 130 (interrupted, and rolled back)';
const KEEP_MS = 60_000;

export const register: Register = (program, deps) => {
  const deploy = withReason(withCommonOptions(program.command('deploy')))
    .enablePositionalOptions()
    .description('deploy another release of a service while it serves, and roll it back where it is not good')
    .argument('<service>', 'gateway, orders, ...')
    .option('--from <ref>', 'a commit of this clone: HEAD~1, v1.2.0 (default: its sources as they are)')
    .option('--dir <path>', 'another copy of the sources')
    .option('--image <image>', 'an image that the engine has: shop/orders:1.4.0 (services as containers)')
    .option('--seed-bug <bug...>', 'put a known bug back into it')
    .option('--env <name=value...>', 'set a variable of its environment', parseVariable)
    .addOption(new Option('--strategy <strategy>', 'how the calls pass over').choices(strategies).default('rolling'))
    .option('--plan <file>', 'how a canary is rolled out and evaluated (default: deploy/plans/<service>.yaml)')
    .addOption(
      new Option(
        '--on-inconclusive <action>',
        'what happens to a canary that nothing is decided of at the limit of its plan (default: rollback)',
      ).choices(['hold', 'rollback']),
    )
    .addOption(
      new Option('--on-failure <action>', 'what happens to a canary that is worse (default: rollback)').choices([
        'rollback',
        'freeze',
      ]),
    )
    .option('--force', 'begin a canary although its requests cannot come at the present rate')
    .option(
      '--keep <duration>',
      'how long the new release is watched before the deploy is done (default: 60s)',
      parseDuration,
    )
    .addOption(new Option('--then <strategy>', 'after a shadow without a difference: deploy it').choices(followers))
    .option('--during-chaos', 'deploy although a fault is active')
    .option('--supersede', 'roll back a deploy that is not over first')
    .option('--dry-run', 'only say what would be done, step by step')
    .addHelpText('after', effects(`builds into dist/releases/, ${CHANGES}`, ENDS))
    .action(async (service: string, options: DeployOptions) => {
      const { runDeploy } = await import('./run-deploy.ts');
      await runDeploy(service, { ...options, keep: options.keep ?? KEEP_MS }, deps);
    });

  withCommonOptions(deploy.command('status'))
    .description('show the deploy that is not over, or the last one')
    .option('-w, --wait', 'until it is over; the exit code is then that of "deploy"')
    .addHelpText('after', effects('none, reads only', '0, 4; with --wait those of "deploy"'))
    .action(async (options: StatusOptions) => {
      const { runDeployStatus } = await import('./run-deploy.ts');
      await runDeployStatus(options, deps);
    });

  const actions = {
    promote:
      'end the time in which the new release is watched; give a canary nearly all calls, whatever is known of it',
    pause:
      'stop before the next replica, the next step of a canary, or the end of the time in which the new release is watched',
    resume: 'resume a deploy that was paused',
    abort: 'roll back the deploy that is not over',
  } as const;
  for (const [action, description] of Object.entries(actions) as [keyof typeof actions, string][]) {
    withCommonOptions(deploy.command(action))
      .description(description)
      .addHelpText('after', effects(CHANGES, '0, 2 (there is no such deploy), 4'))
      .action(async (options: CommonOptions) => {
        const { runDeployAction } = await import('./run-deploy.ts');
        await runDeployAction(action, options, deps);
      });
  }

  withReason(withCommonOptions(deploy.command('rollback')))
    .description('roll back the deploy of a service, or deploy the release that it had before')
    .argument('<service>', 'orders, ...')
    .option('--to <version>', 'a release of an earlier deploy, as "deploy history" shows it')
    .option('--keep <duration>', 'how long it is watched (default: 0ms)', parseDuration)
    .addHelpText('after', effects(CHANGES, ENDS))
    .action(async (service: string, options: RollbackOptions) => {
      const { runDeployRollback } = await import('./run-deploy.ts');
      await runDeployRollback(service, options, deps);
    });

  withReason(withCommonOptions(deploy.command('unpin')))
    .description('have a service run what the clone has built again, in place of a release')
    .argument('<service>', 'orders, ...')
    .addHelpText('after', effects(CHANGES, '0, 1, 2, 4'))
    .action(async (service: string, options: CommonOptions & ReasonOptions) => {
      const { runDeployUnpin } = await import('./run-deploy.ts');
      await runDeployUnpin(service, options, deps);
    });

  withCommonOptions(deploy.command('plan'))
    .description('show what a plan of a canary takes and finds: requests, times and chances to be wrong')
    .argument('[file]', 'the plan, such as deploy/plans/orders.yaml')
    .option('--rate <number>', 'requests of the service a second (default: 50)', parseRate)
    .option('--errors <percentage>', 'requests that fail before the rollout, such as 0.5% (default: 0%)', parseErrors)
    .option('--runs <count>', 'rollouts that are simulated for each outcome (default: 400)', parsePositive)
    .option('--example', 'only print a plan to begin with')
    .addHelpText(
      'after',
      effects('none, reads only; computed without a platform', '0, 1 (it cannot end within its limit), 2'),
    )
    .action(async (file: string | undefined, options: Partial<PlanOptions>) => {
      const { runDeployPlan } = await import('./run-deploy-plan.ts');
      await runDeployPlan(file, { ...options, rate: options.rate ?? 50, errors: options.errors ?? 0 }, deps);
    });

  withCommonOptions(deploy.command('report'))
    .description('write what a deploy did, from its journal: as a page, as JUnit, as Markdown')
    .argument('[run]', 'its id, as "deploy history" shows it (default: the last one)')
    .option('--html <file>', 'write a page of one file')
    .option('--junit <file>', 'write a JUnit report')
    .option('--markdown <file>', 'write Markdown (without a file it is printed)')
    .addHelpText('after', effects('writes the files that are named', '0, 2'))
    .action(async (run: string | undefined, options: DeployReportOptions) => {
      const { runDeployReport } = await import('./run-deploy-report.ts');
      await runDeployReport(run, options, deps);
    });

  withCommonOptions(deploy.command('export'))
    .description('print a plan of a canary as manifests of Kubernetes, with what they cannot say')
    .argument('<service>', 'orders, catalog, ...')
    .addOption(new Option('--for <program>', 'whose manifests').choices(exportFormats).makeOptionMandatory())
    .option('--plan <file>', 'the plan (default: deploy/plans/<service>.yaml)')
    .option(
      '--rate <number>',
      'requests of the service a second, by which steps take their time (default: 50)',
      parseRate,
    )
    .option('--step <number>', 'the step whose weights gateway-api has (default: 1)', parsePositive)
    .addHelpText('after', effects('none, prints YAML; with --json also what is not expressed', '0, 2'))
    .action(async (service: string, options: ExportOptions) => {
      const { runDeployExport } = await import('./run-deploy-export.ts');
      await runDeployExport(service, { ...options, rate: options.rate ?? 50, step: options.step ?? 1 }, deps);
    });

  withCommonOptions(deploy.command('history'))
    .description('list past deploys and how they ended')
    .option('--service <service>', 'of this one only')
    .addHelpText('after', effects('none, reads only', '0, 4'))
    .action(async (options: HistoryOptions) => {
      const { runDeployHistory } = await import('./run-deploy.ts');
      await runDeployHistory(options, deps);
    });
};

/** `NAME=VALUE`, several times. */
function parseVariable(text: string, earlier: Readonly<Record<string, string>> = {}): Record<string, string> {
  const [name = '', ...rest] = text.split('=');
  if (name === '' || rest.length === 0) throw new InvalidArgumentError('expected NAME=VALUE');
  return { ...earlier, [name]: rest.join('=') };
}

/** More would only take longer to simulate. */
const MAX_RATE = 100_000;

function parseRate(text: string): number {
  const rate = /^\d+(\.\d+)?$/.test(text) ? Number(text) : 0;
  if (rate <= 0 || rate > MAX_RATE) throw new InvalidArgumentError(`expected a number above 0, at most ${MAX_RATE}`);
  return rate;
}

/** `0.5%` is 0.005. */
function parseErrors(text: string): number {
  const percent = /^\d+(\.\d+)?%$/.test(text) ? Number.parseFloat(text) : 100;
  if (percent >= 100) throw new InvalidArgumentError('expected a percentage from 0% to 99.9%, such as 0.5%');
  return Number((percent / 100).toPrecision(12));
}
