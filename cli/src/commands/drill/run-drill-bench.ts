import type { CommandDeps, CommonOptions } from '../../command-context.ts';
import {
  appendBenchLine,
  BENCH_VERSION,
  type BenchStart,
  createBench,
  findBench,
  readBench,
  waitingRounds,
} from '../../drills/bench/bench-journal.ts';
import { type BenchRound, nameOf, planRounds, scenariosOf } from '../../drills/bench/plan.ts';
import { playBenchRound } from '../../drills/bench/play-bench-round.ts';
import { benchReport, benchSuites, renderBench } from '../../drills/bench/report.ts';
import { findScenario, readScenarios } from '../../drills/format/catalog.ts';
import type { Scenario } from '../../drills/format/schema.ts';
import { agentPlayer } from '../../drills/play/agent-player.ts';
import { baselines } from '../../drills/play/baselines.ts';
import { openOwnPlatform } from '../../drills/play/own-platform.ts';
import type { Player } from '../../drills/play/player.ts';
import { CliError } from '../../errors.ts';
import { runOnPlatforms } from '../../experiments/run/run-on-platforms.ts';
import { renderJunitSuites } from '../../output/junit.ts';
import { labelledOutput } from '../../output/labelled-output.ts';
import { formatTable } from '../../output/table.ts';
import type { Project } from '../../platform/project.ts';
import type { JournaledRun } from '../../report/journaled-run.ts';
import type { PartEnd } from '../../report/line-journal.ts';
import { type ReportFiles, refuseUnwritable, writeReportFiles } from '../../report/report-files.ts';
import { exitCodeOf } from '../../shared/verdict.ts';
import { onOwnPlatforms, platformsFor } from '../own-platforms.ts';

export interface DrillBenchOptions extends CommonOptions, Pick<ReportFiles, 'junit'> {
  readonly set: 'lite' | 'all';
  readonly agent?: string;
  readonly baseline?: readonly string[];
  readonly rounds: number;
  readonly seed: string;
  /** ms */
  readonly limit: number;
  readonly pass?: number;
  readonly platforms?: number;
  readonly resume?: string;
  readonly dryRun?: boolean;
}

/** A player of this name is the agent. */
const AGENT = 'agent';
/** A solution waits for its page, and is looked at for a minute, ms. */
const SOLUTION_LIMIT_MS = 480_000;

interface Run {
  readonly folder: JournaledRun;
  readonly start: BenchStart;
}

interface Command {
  readonly options: DrillBenchOptions;
  readonly project: Project;
  readonly scenarios: readonly Scenario[];
  readonly deps: CommandDeps;
}

/** `shopctl drill bench` */
export async function runDrillBench(
  ids: readonly string[],
  options: DrillBenchOptions,
  deps: CommandDeps,
): Promise<void> {
  const project = deps.projectFrom(options);
  const scenarios = await readScenarios(project.root);
  if (options.resume !== undefined && ids.length > 0) {
    throw new CliError({
      code: 'invalid_usage',
      what: 'a run that goes on has its scenarios',
      next: 'leave the ids out',
    });
  }
  const rounds = planOf(ids, options, scenarios);
  if (options.dryRun) return showPlan(rounds, deps);
  await refuseUnwritable(options);
  const run = await openRun(rounds, options, project);
  const waiting = waitingRounds(await readBench(run.folder.journal));
  if (waiting.length > 0) await playAll(waiting, run, { options, project, scenarios, deps });
  await report(run, options, deps);
}

function planOf(
  ids: readonly string[],
  options: DrillBenchOptions,
  scenarios: readonly Scenario[],
): readonly BenchRound[] {
  const { agent, baseline = agent === undefined ? baselines.map(({ name }) => name) : [], set } = options;
  const chosen = ids.length === 0 ? scenariosOf(set, scenarios) : ids.map((id) => findScenario(scenarios, id));
  const players = [...(agent === undefined ? [] : [AGENT]), ...baseline];
  return planRounds({ players, scenarios: chosen, rounds: options.rounds, seed: options.seed });
}

function showPlan(rounds: readonly BenchRound[], { output }: CommandDeps): void {
  output.result({ rounds }, () =>
    [
      formatTable(
        ['PLAYER', 'SCENARIO', 'ROUND', 'SEED'],
        rounds.map(({ player, scenario, round, seed }) => [player, scenario, String(round), seed]),
      ),
      `${rounds.length} ${rounds.length === 1 ? 'round' : 'rounds'}`,
    ].join('\n'),
  );
}

/** A new run, or the one that goes on. */
async function openRun(rounds: readonly BenchRound[], options: DrillBenchOptions, project: Project): Promise<Run> {
  if (options.resume !== undefined) {
    const folder = await findBench(project, options.resume);
    return { folder, start: (await readBench(folder.journal)).start };
  }
  const folder = await createBench(project);
  const start: BenchStart = {
    type: 'bench',
    version: BENCH_VERSION,
    runId: folder.runId,
    startedAt: new Date().toISOString(),
    ...(options.agent !== undefined && { agent: options.agent }),
    limitMs: options.limit,
    rounds,
  };
  await appendBenchLine(folder.journal, start);
  return { folder, start };
}

async function playAll(waiting: readonly BenchRound[], run: Run, command: Command): Promise<void> {
  const { options, project, scenarios, deps } = command;
  const { output, signal, env } = deps;
  const { folder, start } = run;
  const own = {
    command: `shopctl drill bench --resume ${start.runId}`,
    project,
    end: (line: PartEnd) => appendBenchLine(folder.journal, line),
  };
  await onOwnPlatforms(own, deps, async () => {
    const platforms = Math.min(options.platforms ?? (await platformsFor()), waiting.length);
    output.note(`rounds: ${waiting.length}, platforms: ${platforms}, run ${start.runId}`);
    const scenarioOf = (round: BenchRound) => findScenario(scenarios, round.scenario);
    await runOnPlatforms(waiting, {
      platforms,
      signal,
      async open(number) {
        const labelled = labelledOutput(output, String(number));
        const play = (round: BenchRound, on: Project) =>
          playBenchRound({
            project: on,
            round,
            scenario: scenarioOf(round),
            player: playerOf(round, start, scenarioOf(round)),
            limitMs: round.player === 'reference' ? Math.max(start.limitMs, SOLUTION_LIMIT_MS) : start.limitMs,
            folder: folder.path,
            env,
            signal,
            say: (line) => labelled.note(`${nameOf(round)}: ${line}`),
          });
        return openOwnPlatform({ project, number, output: labelled, scenarioOf, play }, deps);
      },
      mayGoOn: ({ isQuiet }) => isQuiet,
      nameOf,
      async onRecord(record) {
        await appendBenchLine(folder.journal, record);
        output.note(`${nameOf(record)}: ${record.points ?? 'no'} points, ${record.ended}`);
      },
      onTrouble: (number, problem) => output.warn(`platform ${number}: ${problem}`),
    });
  });
}

function playerOf({ player, seed }: BenchRound, { agent }: BenchStart, scenario: Scenario): Player {
  if (player === AGENT && agent !== undefined) return agentPlayer(agent);
  const found = baselines.find(({ name }) => name === player);
  if (found !== undefined) return found.playerFor(scenario, seed);
  throw new CliError({
    code: 'invalid_journal',
    what: `unknown player "${player}"`,
    why: 'the run was started by another version',
    next: 'start another run with "shopctl drill bench"',
  });
}

async function report({ folder }: Run, options: DrillBenchOptions, deps: CommandDeps): Promise<void> {
  const journal = await readBench(folder.journal);
  const found = benchReport(journal, options.pass);
  await writeReportFiles(options, { junit: () => renderJunitSuites(benchSuites(journal, found)) });
  deps.output.result({ run: folder.runId, ...found, journal: folder.journal }, () =>
    renderBench(found, deps.output.style),
  );
  process.exitCode ||= exitCodeOf(found.verdict);
}
