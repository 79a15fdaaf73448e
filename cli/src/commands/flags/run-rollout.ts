import { flags, isFlagName } from '@shop/kit/flag-names.ts';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { loadPlan } from '../../deploy/analysis/load-plan.ts';
import type { FlagRolloutSummary } from '../../deploy/flag-rollout/requests.ts';
import { createRolloutClient } from '../../deploy/flag-rollout/rollout-client.ts';
import { CliError } from '../../errors.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { formatTable } from '../../output/table.ts';
import { askedFrom } from '../../platform/change-log.ts';
import type { ReasonOptions } from '../reason.ts';
import { unknownFlag } from './unknown-flag.ts';

export interface RolloutOptions extends CommonOptions, ReasonOptions {
  readonly plan: string;
  readonly duringChaos?: boolean;
  readonly force?: boolean;
}

/** `shopctl flags rollout NAME`: has the supervisor do it, and follows it to its end. An interruption has the flag as it was. */
export async function runFlagsRollout(name: string, options: RolloutOptions, deps: CommandDeps): Promise<void> {
  if (!isFlagName(name)) throw unknownFlag(name);
  const plan = await loadPlan(options.plan);
  const { service } = flags[name];
  if (plan.service !== service) throw otherService(name, service, plan.service);
  const client = createRolloutClient(deps.projectFrom(options));
  const asked = askedFrom('command line', options.reason);
  const { id } = await client.start({
    ...{ flag: name, plan, asked },
    ...(options.duringChaos && { duringChaos: true }),
    ...(options.force && { force: true }),
  });
  const { output, signal } = deps;
  const over = Promise.withResolvers<void>();
  deps.onInterrupt(async () => {
    // It may have ended between the signal and the request, which is refused then.
    await client.abort().catch(() => undefined);
    await over.promise;
  });
  const progress = output.progress(`rolling out ${name}`);
  let percent = 0;
  try {
    const rollout = await client.follow(id, (now) => {
      if (now.percent > percent && now.end === null) progress.note(`on for ${now.percent} % of the orders`);
      percent = Math.max(percent, now.percent);
      progress.update([`${name} ${now.percent} %`, now.text].filter((part) => part !== '').join(': '));
    });
    const said = describe(rollout);
    if (rollout.end === 'promoted') progress.succeed(said);
    else progress.fail(said);
    output.result(rollout, () => said);
    process.exitCode = exitCodeOf(rollout);
  } catch (error) {
    if (signal.aborted) progress.stop();
    else progress.fail('not rolled out');
    throw error;
  } finally {
    over.resolve();
  }
}

/** `shopctl flags rollouts`. */
export async function runFlagsRollouts(options: CommonOptions, deps: CommandDeps): Promise<void> {
  const rollouts = await createRolloutClient(deps.projectFrom(options)).list();
  deps.output.result({ rollouts }, () => {
    if (rollouts.length === 0) return 'no flag was rolled out yet';
    const rows = rollouts.toReversed().map(rowOf);
    return formatTable(['TIME (UTC)', 'FLAG', 'STATE', 'ON', 'ORDERS', 'FAILED', 'WHY'], rows);
  });
}

function rowOf({ startedAt, flag, end, percent, on, text }: FlagRolloutSummary): string[] {
  const time = startedAt.slice(0, 19).replace('T', ' ');
  return [time, flag, end ?? 'active', `${percent} %`, String(on.requests), String(on.bad), text];
}

function describe({ flag, end, text, on }: FlagRolloutSummary): string {
  if (end === 'promoted') return `${flag} is on for all orders: ${text}`;
  if (end === 'overridden') return `${flag} is as another command has it: ${text}`;
  const hit = on.bad > 0 ? `; ${on.bad} of ${on.requests} orders that had it on failed` : '';
  return `${flag} is as it was (${end}): ${text}${hit}`;
}

function exitCodeOf({ end }: FlagRolloutSummary): ExitCode {
  if (end === 'promoted') return exitCodes.ok;
  return end === 'inconclusive' ? exitCodes.unknown : exitCodes.failed;
}

function otherService(flag: string, service: string, planned: string): CliError {
  return new CliError({
    code: 'invalid_rollout',
    what: `the plan is one of ${planned}, and ${service} evaluates ${flag}`,
    next: `use a plan with "service: ${service}"`,
  });
}
