import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { CliError } from '../../errors.ts';
import { exitCodes } from '../../exit-codes.ts';
import { renderCheck, renderSummary } from '../../output/check.ts';
import { checkAlertRules } from '../../pager/check-alert-rules.ts';
import { haveTool } from '../../platform/have-tool.ts';
import { worst } from '../../shared/verdict.ts';

/** `shopctl alerts test`. */
export async function runTest(options: CommonOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const { output, env, signal } = deps;
  const promtool = await haveTool('promtool', project, { output, env, signal });
  const began = performance.now();
  const progress = output.progress('testing rules');
  const checks = await checkAlertRules({ promtool, root: project.root, env, signal });
  progress.stop();
  signal.throwIfAborted();
  if (checks.length === 0) {
    throw new CliError({
      code: 'invalid_alert_rules',
      what: 'there are no rules to test',
      why: 'dashboards/prometheus has no profile with rules',
      next: 'run "npm run generate"',
    });
  }
  const tookMs = Math.round(performance.now() - began);
  const verdict = worst(checks.map((check) => check.verdict));
  output.result({ verdict, tookMs, checks }, () =>
    [...checks.map((check) => renderCheck(check, output.style)), renderSummary(checks, tookMs, output.style)].join(
      '\n',
    ),
  );
  process.exitCode = verdict === 'pass' ? exitCodes.ok : exitCodes.failed;
}
