import { addAbortListener } from 'node:events';
import { rm } from 'node:fs/promises';
import { auditBaseline, type Baseline, describeBaseline } from '../audit/baseline.ts';
import { type AuditTarget, openTarget } from '../audit/target.ts';
import { createChaosClient } from '../chaos/chaos-client.ts';
import { type FaultListener, FaultSession } from '../chaos/fault-session.ts';
import type { CommandDeps } from '../command-context.ts';
import { messageOf } from '../errors.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Progress } from '../output/progress.ts';
import { terminalOf } from '../output/terminal.ts';
import type { PlatformConnection } from '../platform/connection.ts';
import type { Project } from '../platform/project.ts';
import type { PageData } from '../report/page-data.ts';
import { systemClock } from '../shared/clock.ts';
import { createGatewayClient } from '../shop/gateway-client.ts';
import { outboxTypesIn } from '../shop/published-events.ts';
import { warmUp } from '../shop/warm-up.ts';
import { createBackend } from '../trace/backend.ts';
import { conclude } from './conclude.ts';
import { dropTruncatedRecords, endWhenSaturated, untilFirstOrder } from './drive.ts';
import { type FaultWindow, neverInEffect, runFaultWindow } from './fault-window.ts';
import type { Loaded } from './finished.ts';
import { storedTrace } from './history.ts';
import { filesOf, type RunningK6, startK6 } from './k6-process.ts';
import { readSummary } from './k6-summary.ts';
import { describeLive, LiveCount } from './live.ts';
import { startObserver } from './observe.ts';
import { type Backlog, peakOf } from './outbox.ts';
import type { Plan } from './plan.ts';
import { auditLoad, drain } from './post-run.ts';
import { createRecordReader } from './records.ts';
import type { LoadResult } from './result.ts';
import { createLoadFolder } from './run-folder.ts';
import { loadTimeline } from './timeline.ts';
import { TraceSampler } from './trace-sample.ts';

/** A few orders only: a platform may be slow or broken on purpose. */
const WARM_UP = { customer: 'Load scenario', quickMs: 300, mostOrders: 5 };

export interface RunDependencies {
  readonly project: Project;
  readonly connection: PlatformConnection;
  /** Path of k6. */
  readonly program: string;
  readonly deps: CommandDeps;
}

export interface LoadRun {
  readonly result: LoadResult;
  /** What was measured over time, for the page. */
  readonly timeline: PageData;
}

interface Run extends RunDependencies {
  readonly folder: string;
  readonly target: AuditTarget;
  readonly progress: Progress;
}

/**
 * Runs a load from its first order to its audit. Whatever happens, k6 is ended, the faults are reverted, and the run's files
 * are removed. Rejects when it is interrupted; everything that is found out is in the result.
 */
export async function runPlan(plan: Plan, dependencies: RunDependencies): Promise<LoadRun> {
  const { project, connection, deps } = dependencies;
  const { scenario, seed, runId } = plan;
  const { path: folder } = await createLoadFolder(project, { scenario: scenario.name, seed });
  deps.output.note(`${scenario.name}: ${scenario.title} (seed ${seed}, keys ${runId}-*)`);
  const progress = deps.output.progress('warming up');
  try {
    await using target = openTarget(connection);
    await warmUp(createGatewayClient(connection.gatewayUrl), WARM_UP, deps.signal);
    const result = await runAndMeasure(plan, { ...dependencies, folder, target, progress });
    progress.stop();
    return result;
  } catch (error) {
    progress.fail(deps.signal.aborted ? 'interrupted' : 'the load could not be run');
    throw error;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function runAndMeasure(plan: Plan, run: Run): Promise<LoadRun> {
  const { folder, target, deps, project, progress } = run;
  const { signal } = deps;
  const began = performance.now();
  const before = await auditedBefore(target, deps);
  const traces = createSampler(plan, run);
  try {
    const loaded = await load(plan, run, traces);
    progress.update('waiting until everything is published');
    const backlogs = [...loaded.observer.backlogs];
    const peak = peakOf(backlogs) ?? 0;
    const onLook = (look: Backlog) => backlogs.push(look);
    const drained = await drain(target, { peak, endedAt: loaded.endedAt, signal, onLook });
    progress.update('comparing traces');
    // A load that was ended early left no time for the rest, and what was quick is long ago.
    if (loaded.cutAt === undefined) traces.fillUp();
    const sampled = await traces.results(signal);
    const audited = await auditLoad(
      async () => openTarget(await deps.connect(project)),
      { runId: plan.runId, folder, records: loaded.records, before },
      { signal, onProgress: (text) => progress.update(text) },
    );
    const finished = { ...loaded, drained, backlogs, sampled, audited, tookMs: performance.now() - began };
    return { result: conclude(plan, finished), timeline: loadTimeline(plan, finished) };
  } finally {
    traces.stop();
  }
}

/** Without it what was wrong before is held against this run: said, and no reason not to run. */
async function auditedBefore(target: AuditTarget, { output, signal }: CommandDeps): Promise<Baseline | undefined> {
  try {
    const before = await auditBaseline(target, signal);
    const violated = describeBaseline(before);
    if (violated !== '') output.warn(`pre-existing, not held against this run: ${violated}`);
    return before;
  } catch (error) {
    signal.throwIfAborted();
    output.warn(`the ledger cannot be audited before the run: ${messageOf(error)}`);
    return undefined;
  }
}

function createSampler(
  { tracesWanted, settings, phases, scenario }: Plan,
  { project, connection, target }: Run,
): TraceSampler {
  return new TraceSampler({
    count: tracesWanted,
    durationMs: settings.durationS * 1000,
    phases,
    project,
    outboxTypes: outboxTypesIn(target.databases),
    telemetry: createBackend(connection.telemetryUrl),
    ...(scenario.requests > 1 && { traceOf: (orderId: string) => storedTrace(target.databases, orderId) }),
  });
}

/** The load itself, with its faults. */
async function load(plan: Plan, run: Run, traces: TraceSampler): Promise<Loaded> {
  const { deps, connection, folder, project, program, target } = run;
  const { signal } = deps;
  const files = filesOf(folder);
  signal.throwIfAborted();
  const k6 = await startK6({
    program,
    root: project.root,
    folder,
    scenario: plan.scenario.name,
    settings: plan.settings,
    seed: plan.seed,
    runId: plan.runId,
    gatewayUrl: connection.gatewayUrl,
    htmlFile: plan.htmlFile,
  });
  // Also when the interruption came while it was started.
  using _ = addAbortListener(signal, () => void k6.stop());
  const reader = createRecordReader(files.console);
  const observer = startObserver({
    connection,
    databases: target.databases,
    reader,
    k6: k6.process,
    onLook: followLive(plan, run, traces),
  });
  try {
    const startedAt = await untilFirstOrder(observer, k6);
    const [window, cutAt] = await Promise.all([
      injectFaults(plan, run, { startedAt, k6 }),
      plan.scenario.name === 'ramp' ? endWhenSaturated(plan.scenario, plan.phases, { observer, k6 }) : undefined,
    ]);
    const exitCode = await k6.ended;
    const endedAt = performance.now();
    signal.throwIfAborted();
    await observer.stop();
    const summary = await readSummary(files.summary);
    const records = dropTruncatedRecords(observer.records, cutAt);
    const said = { messages: await k6.messages(), others: reader.others };
    return { observer, startedAt, endedAt, exitCode, summary, ...said, cutAt, records, window };
  } finally {
    await k6.stop();
    await observer.stop();
  }
}

/** Progress is printed on a terminal once a second; elsewhere every ten, so that a log of CI stays short. */
const PROGRESS_INTERVAL_MS = 10_000;

function followLive(
  { phases, scenario }: Plan,
  { progress, deps }: Run,
  traces: TraceSampler,
): Parameters<typeof startObserver>[0]['onLook'] {
  const count = new LiveCount(phases);
  const isRedrawn = terminalOf(process.stderr, deps.env).redraws;
  let notedAt = performance.now();
  return ({ records, pending, machinePercent }) => {
    count.add(records);
    for (const record of records) traces.offer(record);
    const line = `${scenario.name} ${describeLive(count.state(Date.now()), { pending, machinePercent })}`;
    progress.update(line);
    if (isRedrawn || performance.now() - notedAt < PROGRESS_INTERVAL_MS) return;
    notedAt = performance.now();
    progress.note(line);
  };
}

const NO_FAULTS: FaultWindow = { faults: [], checks: [], notReverted: [] };

async function injectFaults(
  { faults, phases }: Plan,
  { project, deps, progress }: Run,
  { startedAt, k6 }: { startedAt: number | undefined; k6: RunningK6 },
): Promise<FaultWindow> {
  const phase = phases.find(({ name }) => name === 'fault');
  if (faults.length === 0 || phase === undefined) return NO_FAULTS;
  if (startedAt === undefined) return { ...neverInEffect(faults, 'no order was ever sent'), notReverted: [] };
  const over = new AbortController();
  // Without a load there is nothing that the fault could act on.
  void k6.ended.then(() => over.abort());
  const session = new FaultSession(createChaosClient(project), noteFaults(progress), systemClock);
  const signal = AbortSignal.any([deps.signal, over.signal]);
  try {
    return await runFaultWindow({ faults, session, phase }, { startedAt, signal });
  } catch (error) {
    const { notReverted } = await session.revert();
    if (deps.signal.aborted && notReverted.length > 0) reportLeft(notReverted, deps);
    if (deps.signal.aborted || !over.signal.aborted) throw error;
    return { ...neverInEffect(faults, 'the load ended before the fault was over'), notReverted };
  }
}

/** An interrupted run has no result that could say it; its exit code does. */
function reportLeft(notReverted: readonly string[], { output }: CommandDeps): void {
  for (const what of notReverted) output.warn(`left: ${what}; run "shopctl chaos clear --all"`);
  process.exitCode = exitCodes.dirty;
}

/** A load keeps no journal: what becomes of its faults is a note. */
function noteFaults(progress: Progress): FaultListener {
  return {
    onChange: ({ state, lease }) => progress.note(`${lease.fault} on ${lease.target}: ${state}`),
    onTrouble: (event, details) => progress.note(`${event}: ${details}`),
  };
}
