import { describeBaseline } from '../../audit/baseline.ts';
import { openTarget } from '../../audit/target.ts';
import { createChaosClient } from '../../chaos/chaos-client.ts';
import { FaultSession } from '../../chaos/fault-session.ts';
import { messageOf } from '../../errors.ts';
import { createPagerReader } from '../../pager/pager-reader.ts';
import { connectPlatform } from '../../platform/connection.ts';
import type { Project } from '../../platform/project.ts';
import { systemClock } from '../../shared/clock.ts';
import { exitCodeOf, type RunVerdict } from '../../shared/verdict.ts';
import { openShopDatabases } from '../../shop/databases.ts';
import { createGatewayClient } from '../../shop/gateway-client.ts';
import { createBackend } from '../../trace/backend.ts';
import { VERSION } from '../../version.ts';
import type { FoundExperiment } from '../format/catalog.ts';
import type { FaultStep } from '../format/schema.ts';
import { createJournal, type Journal } from '../journal.ts';
import { type Clocks, JOURNAL_VERSION } from '../journal-records.ts';
import { auditRun, type Before, readBefore } from './auditor.ts';
import { captureBaseline, referredTo } from './baselines.ts';
import { checkConditions } from './conditions.ts';
import { type EngineEvent, type EnginePorts, type RunResult, runExperiment } from './engine.ts';
import { execute, waitsInternally } from './execute.ts';
import { createExperimentFolder, type ExperimentFolder } from './experiment-folder.ts';
import { checkFaults, countDeclared, type FaultsInEffect } from './faults-in-effect.ts';
import { journalFaults } from './journal-faults.ts';
import { OrderLog } from './order-log.ts';
import { followProcesses } from './process-events.ts';
import { checkPending } from './providers/fault.ts';
import { checkLoad, joinLoad } from './providers/load.ts';
import type { Baseline, RunContext, RunPlatform } from './run-context.ts';
import { RunningLoads } from './running-loads.ts';
import { type Sampler, startSampler } from './sampler.ts';

export interface RunOptions extends FoundExperiment {
  readonly seed: number;
  /** Whose journal it is. */
  readonly project: Project;
  /** Where it runs; the same, or a platform of the run's own. */
  readonly platformProject: Project;
  readonly seededBugs: readonly string[];
  /** Ctrl-C and the like. */
  readonly interrupted: AbortSignal;
  readonly onEvent: (event: EngineEvent) => void;
}

export interface FinishedRun {
  readonly id: string;
  readonly folder: ExperimentFolder;
  readonly verdict: RunVerdict;
  readonly exitCode: number;
  readonly reasons: readonly string[];
  readonly faults: FaultsInEffect;
  readonly tookMs: number;
}

/** Time for an audit beside its settling, ms. */
const AUDIT_SLACK_MS = 30_000;

/**
 * Runs one experiment on a running platform, from its journal's first record to its last. Throws CliError only before
 * anything has happened (the platform is down or dirty); everything else is a verdict.
 */
export async function runOne(options: RunOptions): Promise<FinishedRun> {
  const { experiment, seed, project, platformProject, interrupted } = options;
  await using platform = await openPlatform(platformProject);
  const folder = await createExperimentFolder(project, { id: experiment.id, seed });
  const clock = systemClock;
  const began = clock.now();
  const journal = createJournal(folder.journal, clock);
  journal.write(runRecord(options, folder));
  const budget = AbortSignal.timeout(experiment.budget);
  const loss = new AbortController();
  const signals = { interrupted, lost: loss.signal, run: AbortSignal.any([interrupted, budget, loss.signal]) };
  const run = await openRun({
    options,
    platform,
    journal,
    folder,
    run: signals.run,
    loss,
    endsAt: began + experiment.budget,
  });
  let result: RunResult;
  try {
    result = await runExperiment(experiment, run.ports, signals);
  } finally {
    await run.close();
  }
  const tookMs = Math.round(clock.now() - began);
  const { verdict, reasons } = result;
  const exitCode = exitCodeOf(verdict);
  const clocks = run.clocks(began, result.steadyAt);
  journal.write({ type: 'verdict', verdict, exitCode, reasons, clocks, tookMs });
  await journal.close();
  return { id: experiment.id, folder, verdict, exitCode, reasons, faults: run.faults(), tookMs };
}

/** The first record of a journal. */
export function runRecord(
  {
    experiment,
    file,
    seed,
    platformProject,
    seededBugs,
  }: Pick<RunOptions, 'experiment' | 'file' | 'seed' | 'platformProject' | 'seededBugs'>,
  { runId }: ExperimentFolder,
) {
  return {
    type: 'run',
    version: JOURNAL_VERSION,
    runId,
    experiment: { ...experiment },
    file,
    seed,
    project: platformProject.name,
    shopctl: VERSION,
    node: process.version,
    seededBugs,
  } as const;
}

async function openPlatform(project: Project): Promise<RunPlatform & AsyncDisposable> {
  const connection = await connectPlatform(project);
  const audited = openTarget(connection);
  const databases = openShopDatabases(readOnly(connection.databaseUrls));
  return {
    project,
    connection,
    gateway: createGatewayClient(connection.gatewayUrl),
    databases,
    telemetry: createBackend(connection.telemetryUrl),
    audited,
    pager: createPagerReader(project),
    async [Symbol.asyncDispose]() {
      await Promise.all([databases[Symbol.asyncDispose](), audited[Symbol.asyncDispose]()]);
    },
  };
}

/** The operator may redrive the outbox; a probe must not be able to change anything. */
function readOnly<Urls extends Readonly<Record<string, string>>>(urls: Urls): Urls {
  const entries = Object.entries(urls).map(([name, text]) => {
    const url = new URL(text);
    url.searchParams.set('options', '-c default_transaction_read_only=on');
    return [name, url.href];
  });
  return Object.fromEntries(entries) as Urls;
}

interface Opening {
  readonly options: RunOptions;
  readonly platform: RunPlatform;
  readonly journal: Journal;
  readonly folder: ExperimentFolder;
  readonly run: AbortSignal;
  /** Aborted when the platform has no supervisor any more. */
  readonly loss: AbortController;
  readonly endsAt: number;
}

interface OpenRun {
  readonly ports: EnginePorts;
  faults(): FaultsInEffect;
  clocks(began: number, steadyAt: number | undefined): Clocks;
  close(): Promise<void>;
}

async function openRun({ options, platform, journal, folder, run, loss, endsAt }: Opening): Promise<OpenRun> {
  const { experiment, seed, onEvent, interrupted } = options;
  const clock = systemClock;
  const faults = new FaultSession(createChaosClient(platform.project), journalFaults(journal), clock);
  const processEvents = followProcesses(platform.connection.control, clock.date().getTime(), {
    onEvent({ type, subject, message }) {
      const event = PROCESS_EVENTS[type];
      if (event !== undefined) journal.write({ type: 'event', event, target: subject, details: message });
    },
    onLost: (why) => loss.abort(new Error(why)),
  });
  const context: RunContext = {
    experiment,
    runId: folder.runId,
    seed,
    clock,
    journal,
    signal: run,
    platform,
    orders: new OrderLog(journal, clock, () => faults.phase()),
    loads: new RunningLoads(),
    faults,
    processEvents,
    baselines: new Map<string, Baseline>(),
    freshAuditTarget: async () => openTarget(await connectPlatform(platform.project)),
    endsAt,
  };
  const sampler = startSampler(context);
  const start = await begin(context, onEvent);
  const referred = referredTo(experiment);
  const faultsInEffect = () => ({ declared: countDeclared(experiment), inEffect: faults.inEffect });
  const ports: EnginePorts = {
    clock,
    journal,
    execute: (step) => execute(step, context),
    waitsInternally,
    isReferredTo: (step) => referred.has(step),
    captureBaseline: async (step) => void context.baselines.set(step, await captureBaseline(context)),
    joinLoad: (step) => {
      const load = context.loads.take(step);
      return load === undefined ? undefined : joinLoad(load);
    },
    endLoads: async () => (await context.loads.end()).map(({ step, summary }) => ({ ...checkLoad(summary), step })),
    checkPending: () => checkAllPending(context),
    async revertAll() {
      return (await faults.revert()).notReverted;
    },
    checkFaults: () => checkFaults(faultsInEffect()),
    checkConditions: () => checkConditions(experiment, context),
    async audit() {
      // The budget is the method's; the audit has its own limit, so that the audit reports a slow settle.
      const limit = AbortSignal.timeout(experiment.audit.settle + AUDIT_SLACK_MS);
      const signal = AbortSignal.any([interrupted, loss.signal, limit]);
      return auditRun({ ...context, signal }, { folder: folder.path, before: start, rules: experiment.audit });
    },
    onEvent,
  };
  return {
    ports,
    faults: faultsInEffect,
    clocks: (began, steadyAt) => clocksOf(context, sampler, began, steadyAt),
    async close() {
      processEvents.close();
      await sampler.stop();
    },
  };
}

/** What the run is compared with. What cannot be read now makes I3 and I11 say more than they should, never less. */
async function begin(context: RunContext, onEvent: (event: EngineEvent) => void): Promise<Before> {
  try {
    const before = await readBefore(context);
    const violated = before.ledger === undefined ? '' : describeBaseline(before.ledger);
    if (violated !== '') {
      context.journal.write({ type: 'event', event: 'ledger.unbalanced', details: violated });
      onEvent({ type: 'remark', text: `pre-existing, not held against this run: ${violated}` });
    }
    context.baselines.set('start', await captureBaseline(context));
    return before;
  } catch (error) {
    context.journal.write({ type: 'event', event: 'start.incomplete', details: messageOf(error) });
    return { orders: [], ledger: undefined };
  }
}

const PROCESS_EVENTS: Readonly<Record<string, string>> = {
  'instance.crashed': 'process.exit',
  'instance.failed': 'process.failed',
  'instance.starting': 'process.restarted',
  'instance.ready': 'process.ready',
  'instance.unready': 'process.unready',
  'instance.stopped': 'process.stopped',
};

async function checkAllPending(context: RunContext) {
  const results = [];
  for (const step of context.experiment.method) {
    if (step.type !== 'action' || step.provider.type !== 'fault') continue;
    const result = await checkPending(step as FaultStep, context);
    if (result !== undefined) results.push({ ...result, step: step.name });
  }
  return results;
}

function clocksOf(
  { faults, orders }: RunContext,
  sampler: Sampler,
  began: number,
  steadyAt: number | undefined,
): Clocks {
  const since = (at: number | undefined) => (at === undefined ? undefined : Math.round(at - began));
  const { firstInjectedAt, firstWitnessedAt, lastRevertedAt } = faults;
  const drainedSince = sampler.drainedSince();
  const drainedAt = drainedSince === undefined ? undefined : Math.max(drainedSince, lastRevertedAt ?? drainedSince);
  const clocks = {
    injectedMs: since(firstInjectedAt),
    witnessedMs: since(firstWitnessedAt),
    firstSymptomMs: since(firstSymptomAt(orders)),
    revertedMs: since(lastRevertedAt),
    steadyMs: since(steadyAt),
    drainedMs: since(drainedAt),
  };
  return Object.fromEntries(Object.entries(clocks).filter(([, ms]) => ms !== undefined));
}

/** The end of the first order under a fault that was not Confirmed, or took longer than any order before the fault. */
function firstSymptomAt({ orders }: OrderLog): number | undefined {
  const slowest = Math.max(
    0,
    ...orders.filter(({ phase }) => phase === 'before').map(({ response }) => response?.tookMs ?? 0),
  );
  const ends = orders
    .filter(
      ({ phase, response }) => phase === 'fault' && (response?.status !== 'Confirmed' || response.tookMs > slowest),
    )
    .map(({ invokedAt, response }) => invokedAt + (response?.tookMs ?? 0));
  return ends.length === 0 ? undefined : Math.min(...ends);
}
