import { resolve } from 'node:path';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { loadPlanOf } from '../../deploy/analysis/load-plan.ts';
import { createDeployClient } from '../../deploy/deploy-client.ts';
import type { DeployRequest, PlannedDeploy } from '../../deploy/requests.ts';
import { type CanaryTerms, type DeployRun, isOver, type Strategy } from '../../deploy/run.ts';
import { CliError } from '../../errors.ts';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { askedFrom } from '../../platform/change-log.ts';
import { formatDuration } from '../../shared/duration.ts';
import type { ReasonOptions } from '../reason.ts';
import { renderHistory, renderRun, renderVerdict } from './render-deploy.ts';

export interface DeployOptions extends CommonOptions, ReasonOptions {
  readonly from?: string;
  readonly dir?: string;
  readonly image?: string;
  readonly seedBug?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly strategy: Strategy;
  /** What follows a shadow without a difference. */
  readonly then?: Strategy;
  /** ms. */
  readonly keep?: number;
  readonly duringChaos?: boolean;
  readonly supersede?: boolean;
  readonly plan?: string;
  readonly onInconclusive?: CanaryTerms['onInconclusive'];
  readonly onFailure?: CanaryTerms['onFailure'];
  readonly force?: boolean;
  readonly dryRun?: boolean;
}

export interface StatusOptions extends CommonOptions {
  readonly wait?: boolean;
}

export interface RollbackOptions extends CommonOptions, ReasonOptions {
  readonly to?: string;
  /** ms. */
  readonly keep?: number;
}

export interface HistoryOptions extends CommonOptions {
  readonly service?: string;
}

/** `shopctl deploy SERVICE`: has the supervisor do it, and follows it to its end. An interruption has it rolled back. */
export async function runDeploy(service: string, options: DeployOptions, deps: CommandDeps): Promise<void> {
  const canary = await termsOf(service, options);
  const client = createDeployClient(deps.projectFrom(options));
  const { from, dir, image, seedBug, env, strategy, then, keep = 0, duringChaos, supersede, force, reason } = options;
  if (then !== undefined && strategy !== 'shadow') throw nothingBefore(then);
  const request: DeployRequest = {
    service,
    ...(from !== undefined && { from }),
    // The supervisor has another folder.
    ...(dir !== undefined && { dir: resolve(dir) }),
    ...(image !== undefined && { image }),
    ...(seedBug && { seedBug }),
    ...(env && { env }),
    strategy,
    keepMs: keep,
    ...(canary && { canary }),
    ...(force && { force }),
    ...(duringChaos && { duringChaos }),
    ...(supersede && { supersede }),
    asked: askedFrom('command line', reason),
  };
  if (options.dryRun) {
    deps.output.result(await client.plan(request), renderPlan);
    return;
  }
  const run = await followed(await client.start(request), client, deps, {
    rollsBack: true,
    isFirst: then !== undefined,
  });
  if (then === undefined || run.state !== 'compared') return;
  await followed(await client.start({ ...request, strategy: then }), client, deps, { rollsBack: true });
}

function nothingBefore(then: Strategy): CliError {
  return new CliError({
    code: 'invalid_usage',
    what: `--then ${then} needs --strategy shadow`,
    next: `use --strategy ${then}, or add --strategy shadow`,
  });
}

/** How a canary is to be rolled out; undefined for another strategy. Throws CliError (2). */
async function termsOf(service: string, options: DeployOptions): Promise<CanaryTerms | undefined> {
  const { strategy, plan: file, onInconclusive, onFailure, force } = options;
  const own = { '--plan': file, '--on-inconclusive': onInconclusive, '--on-failure': onFailure, '--force': force };
  const given = Object.entries(own).flatMap(([name, value]) => (value === undefined ? [] : [name]));
  if (strategy !== 'canary') {
    if (given.length > 0) throw needsCanary(given);
    return undefined;
  }
  const plan = await loadPlanOf(service, file);
  return { plan, onInconclusive: onInconclusive ?? 'rollback', onFailure: onFailure ?? 'rollback' };
}

function needsCanary(options: readonly string[]): CliError {
  return new CliError({
    code: 'invalid_strategy',
    what: `${options.join(', ')} ${options.length === 1 ? 'is' : 'are'} for canaries only`,
    next: 'add --strategy canary',
  });
}

/** `shopctl deploy status`. */
export async function runDeployStatus(options: StatusOptions, deps: CommandDeps): Promise<void> {
  const client = createDeployClient(deps.projectFrom(options));
  const { runs, current, progress } = await client.list();
  const run = runs.find(({ id }) => id === current) ?? runs.at(-1);
  if (run === undefined) deps.output.result(null, () => 'nothing was deployed yet');
  else if (options.wait) await followed(run, client, deps, { rollsBack: false });
  else {
    const found = run.id === current && progress ? { progress } : {};
    deps.output.result({ ...withoutValues(run), ...found }, (one) => renderRun(one, deps.output, found.progress));
  }
}

/** `shopctl deploy promote|pause|resume|abort`. */
export async function runDeployAction(
  action: 'promote' | 'pause' | 'resume' | 'abort',
  options: CommonOptions,
  deps: CommandDeps,
): Promise<void> {
  const client = createDeployClient(deps.projectFrom(options));
  const run = await client.act(action);
  deps.output.result(withoutValues(run), (one) => renderRun(one, deps.output));
  if (action === 'abort') process.exitCode = run.isDirty ? exitCodes.dirty : exitCodes.ok;
}

/** `shopctl deploy rollback SERVICE`. */
export async function runDeployRollback(service: string, options: RollbackOptions, deps: CommandDeps): Promise<void> {
  const client = createDeployClient(deps.projectFrom(options));
  const { to, keep = 0, reason } = options;
  const asked = askedFrom('command line', reason);
  const run = await client.rollBack({ service, ...(to !== undefined && { to }), keepMs: keep, asked });
  if (!isOver(run.state)) return void (await followed(run, client, deps, { rollsBack: true }));
  deps.output.result(withoutValues(run), (one) => renderRun(one, deps.output));
  process.exitCode = run.isDirty ? exitCodes.dirty : exitCodes.ok;
}

/** `shopctl deploy unpin SERVICE`. */
export async function runDeployUnpin(
  service: string,
  options: CommonOptions & ReasonOptions,
  deps: CommandDeps,
): Promise<void> {
  const client = createDeployClient(deps.projectFrom(options));
  const began = performance.now();
  const progress = deps.output.progress(`replacing ${service}`);
  try {
    const result = await client.unpin({ service, asked: askedFrom('command line', options.reason) });
    progress.stop();
    const took = formatDuration(performance.now() - began);
    deps.output.result(result, ({ changed }) =>
      changed ? `${service} runs what the clone has built (${took})` : `nothing to do: ${service} runs no release`,
    );
  } catch (error) {
    progress.fail(`${service} not replaced`);
    throw error;
  }
}

/** `shopctl deploy history`. */
export async function runDeployHistory({ service, ...options }: HistoryOptions, deps: CommandDeps): Promise<void> {
  const client = createDeployClient(deps.projectFrom(options));
  const { runs, releases } = await client.list();
  const chosen = runs.filter((run) => service === undefined || run.service === service).map(withoutValues);
  deps.output.result({ runs: chosen, releases }, (list) => renderHistory(list, deps.output));
}

async function followed(
  { id }: DeployRun,
  client: ReturnType<typeof createDeployClient>,
  deps: CommandDeps,
  { rollsBack, isFirst = false }: { rollsBack: boolean; isFirst?: boolean },
): Promise<DeployRun> {
  const { output, signal } = deps;
  const began = performance.now();
  const over = Promise.withResolvers<void>();
  if (rollsBack) {
    deps.onInterrupt(async () => {
      // It may have ended between the signal and the request, which is refused then.
      await client.act('abort').catch(() => undefined);
      await over.promise;
    });
  }
  const progress = output.progress('deploying');
  let said = 0;
  try {
    const run = await client.follow(
      id,
      (now, dated) => {
        for (const { text } of now.steps.slice(said)) progress.note(text);
        said = now.steps.length;
        const found = dated && now.canary && !isOver(now.state) ? `, ${renderVerdict(dated.verdict)}` : '';
        progress.update(`${now.service} ${now.to}: ${now.isPaused ? 'paused' : now.state}${found}`);
      },
      { untilHeld: rollsBack },
    );
    const took = formatDuration(performance.now() - began);
    if (run.state === 'done') progress.succeed(`${run.service} runs ${run.to} (${took})`);
    else if (run.state === 'compared') progress.succeed(`${run.to} would do what ${run.service} does (${took})`);
    else progress.fail(`${run.service} ${run.state} (${took})`);
    // Where another one follows, the command has the result of that.
    if (!isFirst || run.state !== 'compared') output.result(withoutValues(run), (one) => renderRun(one, output));
    process.exitCode = exitCodeOf(run);
    return run;
  } catch (error) {
    if (signal.aborted) progress.stop();
    else progress.fail('not deployed');
    throw error;
  } finally {
    over.resolve();
  }
}

/** How a command ends that followed a deploy. */
function exitCodeOf({ state, isDirty, cause }: DeployRun): ExitCode {
  if (state === 'done' || state === 'compared') return exitCodes.ok;
  if (state === 'held') return cause?.kind === 'evidence' ? exitCodes.unknown : exitCodes.failed;
  if (isDirty) return exitCodes.dirty;
  if (state === 'inconclusive') return exitCodes.unknown;
  if (state === 'failed') return cause?.error?.exitCode ?? exitCodes.failed;
  return exitCodes.failed;
}

/** Values of variables may be secrets. */
function withoutValues({ releases, ...run }: DeployRun): DeployRun {
  if (releases === undefined) return run;
  const hidden = (release: typeof releases.to) => ({
    ...release,
    env: Object.fromEntries(Object.keys(release.env).map((name) => [name, '…'])),
  });
  return { ...run, releases: { from: hidden(releases.from), to: hidden(releases.to) } };
}

function renderPlan({ service, from, to, steps }: PlannedDeploy): string {
  return [
    `would deploy ${service} ${to}, in place of ${from}:`,
    ...steps.map((text, index) => `  ${index + 1}. ${text}`),
  ].join('\n');
}
