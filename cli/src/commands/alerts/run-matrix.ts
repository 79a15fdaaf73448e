import { pageBurnsOf } from '../../alert-matrix/burns.ts';
import { evaluate } from '../../alert-matrix/evaluate.ts';
import { type Expected, readExpected } from '../../alert-matrix/expected.ts';
import {
  appendLine,
  JOURNAL_VERSION,
  type MatrixStart,
  type PairRecord,
  readMatrixJournal,
} from '../../alert-matrix/journal.ts';
import { allPairs, type Pair, pairName, planPairs } from '../../alert-matrix/pair.ts';
import { openPlace } from '../../alert-matrix/place.ts';
import { renderMatrix } from '../../alert-matrix/render.ts';
import { renderHtml, reportAsJson, suiteOfReport } from '../../alert-matrix/render-files.ts';
import { createAlertRun, findAlertRun } from '../../alert-matrix/run-folders.ts';
import { runMatrix } from '../../alert-matrix/run-matrix.ts';
import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import { renderJunitSuites } from '../../output/junit.ts';
import { labelledOutput } from '../../output/labelled-output.ts';
import { formatTable } from '../../output/table.ts';
import { type AlertRule, readAlertRules, requireAlertName } from '../../pager/alert-rules.ts';
import type { Project } from '../../platform/project.ts';
import type { JournaledRun } from '../../report/journaled-run.ts';
import type { PartEnd } from '../../report/line-journal.ts';
import { type ReportFiles, refuseUnwritable, writeReportFiles } from '../../report/report-files.ts';
import { exitCodeOf } from '../../shared/verdict.ts';
import { readSlos } from '../../slo/catalog.ts';
import { profiles } from '../../slo/profiles.ts';
import { onOwnPlatforms, platformsFor } from '../own-platforms.ts';

export interface MatrixOptions extends CommonOptions, ReportFiles {
  readonly faults?: readonly string[];
  readonly targets?: readonly string[];
  readonly alerts?: readonly string[];
  readonly all?: boolean;
  readonly parallel?: number;
  readonly seed?: number;
  readonly resume?: string;
  readonly dryRun?: boolean;
}

/** Orders a second. */
const RATE = 10;

/** `shopctl alerts matrix`. */
export async function runMatrixCommand(options: MatrixOptions, deps: CommandDeps): Promise<void> {
  const project = deps.projectFrom(options);
  const rules = await readAlertRules(project.root);
  for (const name of options.alerts ?? []) requireAlertName(name, rules, []);
  const expected = await readExpected(project.root, {
    pairs: allPairs(),
    alerts: [...new Set(rules.map(({ alertname }) => alertname))],
  });
  if (options.dryRun) return showPlan(options, expected, deps);
  await refuseUnwritable(options);
  const { folder, start, records } = await openRun(options, rules, project);
  const waiting = start.pairs.filter((pair) => !records.some((record) => isEvidence(record, pair)));
  if (waiting.length > 0) await measureAll(waiting, { folder, start }, { options, project, deps });
  await report(folder, { expected, options, deps });
}

interface Run {
  readonly folder: JournaledRun;
  readonly start: MatrixStart;
}

interface Command {
  readonly options: MatrixOptions;
  readonly project: Project;
  readonly deps: CommandDeps;
}

/** A new run, or the one that goes on. */
async function openRun(
  options: MatrixOptions,
  rules: readonly AlertRule[],
  project: Project,
): Promise<Run & { readonly records: readonly PairRecord[] }> {
  if (options.resume !== undefined) {
    const folder = await findAlertRun(project, 'matrix', options.resume);
    return { folder, ...(await readMatrixJournal(folder.journal)) };
  }
  const plan = planPairs(options);
  const seed = options.seed ?? 1;
  const folder = await createAlertRun(project, 'matrix', seed);
  const start: MatrixStart = {
    type: 'matrix',
    version: JOURNAL_VERSION,
    runId: folder.runId,
    startedAt: new Date().toISOString(),
    seed,
    rate: RATE,
    ...plan,
    burns: pageBurnsOf(await readSlos(project.root)),
    guard: profiles.laptop.guard,
    alerts: alertsOf(rules, options.alerts),
  };
  await appendLine(folder.journal, start);
  return { folder, start, records: [] };
}

/** Of an alert with several rules the most urgent severity. */
function alertsOf(rules: readonly AlertRule[], wanted: readonly string[] = []): MatrixStart['alerts'] {
  const chosen = rules.filter(({ alertname }) => wanted.length === 0 || wanted.includes(alertname));
  return [...Map.groupBy(chosen, ({ alertname }) => alertname)].map(([alertname, own]) => ({
    alertname,
    severity: URGENT_FIRST.find((one) => own.some(({ severity }) => severity === one)) ?? 'none',
  }));
}

const URGENT_FIRST = ['page', 'ticket', 'cause', 'none'] as const;

/** A pair that was measured without evidence is measured again. */
function isEvidence({ pair, problems, notReverted }: PairRecord, wanted: Pair): boolean {
  return pairName(pair) === pairName(wanted) && problems.length === 0 && notReverted.length === 0;
}

function showPlan(options: MatrixOptions, expected: Expected, { output }: CommandDeps): void {
  const { pairs, leftOut } = planPairs(options);
  const shown = pairs.map((pair) => ({ name: pairName(pair), ...pair, group: expected.groupOf(pair)?.name ?? null }));
  output.result({ pairs: shown, leftOut }, () =>
    [
      formatTable(
        ['FAULT', 'GROUP'],
        shown.map(({ name, group }) => [name, group ?? 'no expectations']),
      ),
      `${pairs.length} pairs; ${leftOut} of faults that show little beyond others are left out, --all takes them too`,
    ].join('\n'),
  );
}

async function measureAll(waiting: readonly Pair[], { folder, start }: Run, command: Command): Promise<void> {
  const { options, project, deps } = command;
  const { output, signal } = deps;
  let done = start.pairs.length - waiting.length;
  const run = {
    command: `shopctl alerts matrix --resume ${start.runId}`,
    project,
    end: (end: PartEnd) => appendLine(folder.journal, end),
  };
  await onOwnPlatforms(run, deps, async () => {
    const platforms = options.parallel ?? (await platformsFor());
    output.note(`${waiting.length} pairs on ${Math.min(platforms, waiting.length)} platforms, run ${start.runId}`);
    await runMatrix(waiting, {
      platforms,
      signal,
      open: (number) => {
        const own = { project, number, seed: start.seed, rate: start.rate, runId: start.runId };
        return openPlace({ ...own, output: labelledOutput(output, String(number)) }, deps);
      },
      async onRecord(record) {
        await appendLine(folder.journal, record);
        done++;
        output.note(`${done}/${start.pairs.length} ${describeRecord(record)}`);
      },
      onTrouble: (number, problem) => output.warn(`platform ${number}: ${problem}`),
    });
  });
}

/** `down orders-stock: OrdersErrorBudgetBurn 7 s` */
function describeRecord({ pair, injectedMs = 0, firings, problems }: PairRecord): string {
  const fired = firings.map(({ alertname, burn, firedMs }) => {
    return `${alertname}${burn === undefined ? '' : ` ${burn}`} ${Math.round((firedMs - injectedMs) / 1_000)} s`;
  });
  return `${pairName(pair)}: ${problems.join('; ') || fired.join(', ') || 'no alert'}`;
}

async function report(
  { journal }: JournaledRun,
  { expected, options, deps }: { expected: Expected; options: MatrixOptions; deps: CommandDeps },
): Promise<void> {
  const evaluated = evaluate(await readMatrixJournal(journal), expected);
  await writeReportFiles(options, {
    junit: () => renderJunitSuites([suiteOfReport(evaluated)]),
    html: () => renderHtml(evaluated),
  });
  deps.output.result({ ...reportAsJson(evaluated), journal }, () => renderMatrix(evaluated, deps.output.style));
  process.exitCode ||= exitCodeOf(evaluated.verdict);
}
