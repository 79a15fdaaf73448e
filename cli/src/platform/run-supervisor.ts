import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '../errors.ts';
import { identifyProcess, isAlive, type ProcessIdentity } from '../process/process-identity.ts';
import { createCpuMeter, processUsage } from '../process/process-stats.ts';
import { takeProjectLock } from '../process/project-lock.ts';
import { endContainers } from '../providers/docker/leftovers.ts';
import { recordFile } from '../providers/docker/record.ts';
import { pollFor } from '../shared/wait-until.ts';
import { createChangeLog } from './change-log.ts';
import { startControlApi } from './control-api.ts';
import { createEventLog } from './events.ts';
import type { SupervisionLimits } from './instance.ts';
import { endLeftovers, findLeftovers } from './leftovers.ts';
import { overridesFile, readOverrides, writeOverrides } from './overrides.ts';
import type { Planner, PlannerContext } from './plan.ts';
import { Platform } from './platform.ts';
import { createPortAllocator } from './ports.ts';
import { makePrivateFolder } from './private-folder.ts';
import { type Project, sharedDir } from './project.ts';
import { type Reaper, startReaper } from './reaper.ts';
import { recordOperations } from './record-changes.ts';
import { rotateLogs } from './rotation.ts';
import { type ActiveDrill, type InstanceState, type PlatformState, recoverState, writeState } from './state.ts';
import type { ExtensionContext, SupervisorExtension } from './supervisor-extension.ts';
import { createUpstreamsWriter, upstreamsFile, upstreamsFolder } from './upstreams-file.ts';

/** What a supervisor is made of. */
export interface SupervisorOptions {
  readonly project: Project;
  createPlanner(context: PlannerContext): Promise<Planner>;
  readonly limits?: SupervisionLimits;
  /** What it serves beside the platform. */
  openExtension?(context: ExtensionContext): Promise<SupervisorExtension>;
  /** What it was built from; see PlatformState. */
  readonly build?: string;
  /** Program and arguments that end the project's containers when this process was killed. */
  readonly containerEnder?: readonly string[];
  /** Failpoints can be armed in the services it starts. */
  readonly failpoints?: boolean;
  /** How long nothing may run and no request arrive before it ends, ms. */
  readonly idleExitMs?: number;
}

const ROTATE_EVERY_MS = 5000;
const IDLE_EXIT_MS = 5000;

/** The file in which a run's reaper finds its children. */
export function childListFile(project: Project, mark: string): string {
  return join(project.stateDir, `children.${mark}`);
}

/**
 * Supervises one project until `down`, a signal, or nothing is left to do. Resolves when everything has stopped; rejects
 * when something could not be stopped, and then the reaper ends it once this process has gone. Ends immediately when
 * another supervisor has the project.
 */
export async function runSupervisor(options: SupervisorOptions): Promise<void> {
  const { project } = options;
  await mkdir(project.logDir, { recursive: true, mode: 0o700 });
  // Released only by the end of this process: a command that waits until the project is free finds nothing of it alive.
  if (!(await takeProjectLock(project.lockFile))) {
    console.error('supervisor: another one has this project already');
    return;
  }
  const before = await recoverState(project.stateFile);
  await endEarlierRun(project, before);
  const mark = randomBytes(8).toString('hex');
  const supervisor = (await identifyProcess(process.pid)) as ProcessIdentity;
  const events = createEventLog();
  let reaper: Reaper | undefined;
  let planner: Planner | undefined;
  let current: (() => PlatformState) | undefined;
  // Asked to save before there is anything to: the next change will.
  const save = createSaver(async () => {
    if (current) await writeState(project.stateFile, current());
  });
  reaper = await startReaper({
    listFile: childListFile(project, mark),
    mark,
    ...(options.containerEnder && {
      containers: { record: recordFile(project.stateDir), command: options.containerEnder },
    }),
    onReplaced: () => save(),
  });
  const ports = createPortAllocator(before?.ports ?? {}, await openClaims());
  let platform: Platform | undefined;
  const instances = () => platform?.snapshots() ?? [];
  planner = await options.createPlanner({ ports, registry: reaper.registry, events, instances });
  platform = new Platform({
    planner,
    events,
    overrides: {
      initial: await readOverrides(overridesFile(project)),
      save: (overrides) => writeOverrides(overridesFile(project), overrides),
    },
    upstreams: createUpstreamsWriter(upstreamsFile(upstreamsFolder(project))),
    onChange: () => save(),
    ...(options.limits && { limits: options.limits }),
  });
  const startedAt = new Date().toISOString();
  let extension: SupervisorExtension | undefined;

  const snapshot = (): PlatformState => ({
    project: project.name,
    status: platform.status,
    supervisor,
    ...(options.build !== undefined && { build: options.build }),
    ...(reaper?.identity() && { reaper: reaper.identity() as ProcessIdentity }),
    mark,
    socketPath: project.socketPath,
    startedAt,
    direct: platform.plan?.direct ?? false,
    runtime: platform.plan?.runtime ?? 'process',
    instrumentation: platform.plan?.instrumentation ?? 'manual',
    gatewayUrl: platform.plan?.gatewayUrl ?? '',
    telemetryUrl: platform.plan?.telemetryUrl ?? '',
    ...(platform.plan?.toxiproxyUrl !== undefined && { toxiproxyUrl: platform.plan.toxiproxyUrl }),
    ports: planner.ports(),
    instances: platform.snapshots(),
    edges: platform.edges,
    startReport: platform.startReport,
    warnings: platform.plan?.warnings ?? [],
    replicas: platform.replicas,
    faults: extension?.activeFaults() ?? [],
    ...withDrill(extension?.activeDrill?.()),
    failpoints: options.failpoints ?? false,
    seededBugs: platform.plan?.seededBugs ?? [],
    ...(platform.plan?.databasePoolSize !== undefined && { databasePoolSize: platform.plan.databasePoolSize }),
  });
  current = snapshot;

  const stopAll = async (timeoutMs?: number) => {
    events.add('platform.stopping', 'platform', 'the platform is taken down');
    // A fault that was not reverted stays in the undo log; it does not keep the processes from ending.
    await extension?.end().catch(reportProblem('ending the faults'));
    await platform.down(timeoutMs);
  };
  const changes = createChangeLog(project, (problem) => {
    console.error(`supervisor: ${problem}`);
    events.add('change.unrecorded', 'platform', problem);
  });
  const operations = recordOperations({
    platform,
    events,
    changes,
    state: snapshot,
    down: stopAll,
    obstacleTo: (operation) => extension?.obstacleTo?.(operation),
  });
  extension = await options.openExtension?.({
    project,
    events,
    state: snapshot,
    act: (service, action) => platform.act(service, action),
    operator: operations,
    changeConditions: (name, change) => platform.changeConditions(name, change),
    relaunch: (name) => platform.relaunch(name),
    fleet: platform,
    setTelemetryUnavailable: (isUnavailable) => planner.setTelemetryUnavailable?.(isUnavailable),
    takeMetrics: (report) => planner.takeMetrics?.(report),
    serve: (guest) => planner.serve?.(guest),
    onChange: () => save(),
  });
  const finished = Promise.withResolvers<void>();
  const idle = createIdleTimer(
    options.idleExitMs ?? IDLE_EXIT_MS,
    () => platform.status === 'stopped' && (extension?.activeFaults() ?? []).length === 0,
    finished.resolve,
  );
  const measure = createMeasure();
  const stopBySignal = () => void stopAll().then(finished.resolve, finished.reject);
  // Before the socket: a process that has found it may send a signal, and ended by that this process would leave its
  // socket.
  process.on('SIGTERM', stopBySignal);
  process.on('SIGINT', stopBySignal);
  // The terminal we were started from closes: that is none of our business.
  process.on('SIGHUP', () => {});
  const server = await startControlApi(project.socketPath, {
    events,
    state: async () => {
      const state = snapshot();
      return { ...state, instances: await Promise.all(state.instances.map(measure)) };
    },
    up: (request, gone) => idle.during(() => operations.up(request, gone)),
    act: (service, action, asked) => idle.during(() => operations.act(service, action, asked)),
    operate: (operation, options) => idle.during(() => operations.operate(operation, options)),
    handleOther: async (...asked) => (await extension?.handle(...asked)) ?? false,
    async down(timeoutMs, asked) {
      // What it cancels fails meanwhile, and must not end this process before the response.
      await idle.during(() => operations.down(timeoutMs, asked));
      // The response must reach the client before the server closes.
      setImmediate(finished.resolve);
    },
  });
  const rotation = setInterval(
    () => void rotateLogs(project.logDir).catch(reportProblem('log rotation')),
    ROTATE_EVERY_MS,
  );
  save();
  try {
    await finished.promise;
    // Only now: when stopping has failed, the reaper ends what is left as soon as this process is gone.
    await reaper.dismiss();
    await unlink(childListFile(project, mark));
  } finally {
    clearInterval(rotation);
    idle.end();
    await planner.close().catch(reportProblem('closing the telemetry receiver'));
    await save.flush();
    server.close();
    server.closeIdleConnections();
    await ports.release();
  }
}

/**
 * An earlier supervisor ended without stopping its children and containers. Its reaper may be doing that: then it is
 * waited for. What remains after that (both were killed) is ended here. Resolves to the number of what was ended.
 */
export async function endEarlierRun(project: Project, before: PlatformState | undefined): Promise<number> {
  await waitForEnd(before?.reaper, 5000);
  const marks = await marksOfEarlierRuns(project, before);
  const found = await Promise.all([...marks].map((mark) => findLeftovers(childListFile(project, mark), mark)));
  const leftovers = found.flat();
  if (leftovers.length > 0) console.error(`supervisor: ending ${leftovers.length} processes of an earlier run`);
  await endLeftovers(leftovers);
  for (const mark of marks) await rm(childListFile(project, mark), { force: true });
  return leftovers.length + (await endContainers(project.stateDir));
}

/** Also of runs whose state was removed or torn: their lists of children are named by their marks. */
async function marksOfEarlierRuns(project: Project, before: PlatformState | undefined): Promise<ReadonlySet<string>> {
  const names = existsSync(project.stateDir) ? await readdir(project.stateDir) : [];
  const listed = names.flatMap((name) => /^children\.([0-9a-f]+)$/.exec(name)?.[1] ?? []);
  return new Set([...listed, ...(before ? [before.mark] : [])]);
}

/** Where this user's projects agree on ports; undefined, after a report, where others could meddle with it. */
async function openClaims(): Promise<string | undefined> {
  try {
    await makePrivateFolder(sharedDir());
    return join(sharedDir(), 'ports');
  } catch (error) {
    reportProblem('ports are not agreed on with other projects')(error);
    return undefined;
  }
}

async function waitForEnd(identity: ProcessIdentity | undefined, limitMs: number): Promise<void> {
  if (identity === undefined) return;
  await pollFor(async () => ((await isAlive(identity)) ? undefined : true), { everyMs: 25, limitMs });
}

/** Writes the state soon after a change: one write for a burst of changes, never two concurrently. */
function createSaver(write: () => Promise<void>) {
  let timer: NodeJS.Timeout | undefined;
  let writing = Promise.resolve();
  const now = () => {
    timer = undefined;
    writing = writing.then(write).catch(reportProblem('writing state.json'));
    return writing;
  };
  const save = () => {
    timer ??= setTimeout(now, 20);
  };
  save.flush = async () => {
    clearTimeout(timer);
    await now();
  };
  return save;
}

/** Ends a supervisor for which there is nothing to do: its `up` never came, failed, or was interrupted. */
function createIdleTimer(limitMs: number, isIdle: () => boolean, end: () => void) {
  let busy = 0;
  let idleSince = performance.now();
  const timer = setInterval(
    () => {
      if (busy > 0 || !isIdle()) idleSince = performance.now();
      else if (performance.now() - idleSince >= limitMs) end();
    },
    Math.min(250, limitMs),
  );
  return {
    async during<T>(work: () => Promise<T>): Promise<T> {
      busy += 1;
      try {
        return await work();
      } catch (error) {
        // A failed start that left nothing running: no use in waiting for another.
        if (busy === 1 && isIdle()) setImmediate(end);
        throw error;
      } finally {
        busy -= 1;
        idleSince = performance.now();
      }
    },
    end: () => clearInterval(timer),
  };
}

/** Adds CPU and memory to an instance that runs. */
function createMeasure() {
  const meter = createCpuMeter();
  return async (instance: InstanceState): Promise<InstanceState> => {
    const usage = instance.process && (await processUsage(instance.process.pid));
    if (!instance.process || !usage) return instance;
    const cpuPercent = meter.percent(instance.process.pid, usage.cpuMs);
    return { ...instance, ...(cpuPercent !== undefined && { cpuPercent }), rssBytes: usage.rssBytes };
  };
}

function reportProblem(what: string) {
  return (error: unknown) => console.error(`supervisor: ${what}: ${messageOf(error)}`);
}

function withDrill(drill: ActiveDrill | undefined): Pick<PlatformState, 'drill'> {
  return drill === undefined ? {} : { drill };
}
