import { audit } from '../../audit/audit.ts';
import { checksOf, renderAudit } from '../../audit/report.ts';
import type { Scope } from '../../audit/rows.ts';
import { type AuditTarget, openTarget } from '../../audit/target.ts';
import type { AnnotationOptions, CommandDeps, CommonOptions } from '../../command-context.ts';
import { annotate } from '../../output/annotations.ts';
import { describeSeededBugs } from '../../platform/seeded-bugs.ts';
import { exitCodeOf } from '../../shared/verdict.ts';
import { parseIdPrefix, requireUnique } from '../../shop/id-prefix.ts';
import { connectWithin } from '../connect-within.ts';

export interface AuditCommandOptions extends CommonOptions, AnnotationOptions {
  readonly order?: string;
  /** ms since 1970. */
  readonly since?: number;
  /** Seconds. */
  readonly settle: number;
  readonly history?: string;
  readonly deadLetters: number;
  readonly watch?: boolean;
  /** ms. */
  readonly every?: number;
  readonly for?: number;
}

/** Audits the running platform, prints the report and sets the exit code. */
export async function runAudit(options: AuditCommandOptions, deps: CommandDeps): Promise<void> {
  const connection = await connectWithin(deps, deps.projectFrom(options));
  await using target = openTarget(connection);
  const scope = await scopeOf(options, target);
  const progress = deps.output.progress('auditing');
  try {
    const report = await audit({
      target,
      scope,
      settleMs: options.settle * 1000,
      historyFile: options.history,
      deadLetters: options.deadLetters,
      signal: deps.signal,
      onProgress: (text) => progress.update(text),
    });
    progress.stop();
    const { style } = deps.output;
    const seeded = describeSeededBugs(target.seededBugs).map(style.red);
    deps.output.result({ ...report, seededBugs: target.seededBugs }, () =>
      [...seeded, renderAudit(report, style)].join('\n'),
    );
    await annotate([{ name: 'shopctl audit', tookMs: report.tookMs, cases: checksOf(report, style) }], options, deps);
    process.exitCode = exitCodeOf(report.verdict);
  } catch (error) {
    progress.stop();
    throw error;
  }
}

/** An id need not be one that orders has: an audit is worth it when another database has it. */
async function scopeOf({ order, since }: AuditCommandOptions, { databases }: AuditTarget): Promise<Scope> {
  if (order === undefined) return since === undefined ? {} : { sinceMs: since };
  const range = parseIdPrefix(order, 'order');
  if (range.lowest === range.highest) return { orderId: range.lowest };
  const rows = await databases.query<{ id: string }>(
    'orders',
    'SELECT id::text FROM orders WHERE id BETWEEN $1 AND $2 ORDER BY id LIMIT 5',
    [range.lowest, range.highest],
  );
  return {
    orderId: requireUnique(
      rows.map(({ id }) => id),
      range,
      'order',
      'shopctl order list',
    ),
  };
}
