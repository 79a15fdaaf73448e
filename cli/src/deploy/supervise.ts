import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { CliError, messageOf } from '../errors.ts';
import { type Asked, createChangeLog } from '../platform/change-log.ts';
import { operatorDatabaseUrls } from '../platform/connection.ts';
import { readJson, sendJson } from '../platform/control-api.ts';
import { hasFailpoints } from '../platform/failpoint-files.ts';
import type { Release } from '../platform/release.ts';
import type { ExtensionContext, PlatformOperation, SupervisorExtension } from '../platform/supervisor-extension.ts';
import { unknownService } from '../platform/unknown-service.ts';
import { loadOrCreateSecrets } from '../providers/secrets.ts';
import { systemClock } from '../shared/clock.ts';
import { withShopDatabases } from '../shop/databases.ts';
import { createGatewayClient } from '../shop/gateway-client.ts';
import { outboxTypesIn } from '../shop/published-events.ts';
import { services } from '../topology/services.ts';
import { createBackend } from '../trace/backend.ts';
import { refusalOf } from './analysis/arithmetic.ts';
import type { CanaryPlan } from './analysis/plan.ts';
import { ATTEMPTS, totalsOf } from './analysis/read-evidence.ts';
import { runDrainCheck } from './drain-check.ts';
import { DeployEngine, type DeployPlan } from './engine.ts';
import { assertNoFault } from './fault-gate.ts';
import { createGuards } from './guards.ts';
import { createDeployJournal } from './journal.ts';
import { pruneReleases, rollbackTargets } from './kept-releases.ts';
import { openObserver } from './observe/open-observer.ts';
import { presentRate } from './observe/present-rate.ts';
import { stepsOf } from './planned-steps.ts';
import { runPreflight, type Subject } from './preflight.ts';
import {
  type DeployAction,
  needsContainers,
  needsFailpoints,
  needsOwnInstrumentation,
  needsTerms,
  noCopies,
  noLongerKept,
  noSecondSet,
  notReady,
  otherRuntime,
  outOfReach,
  runsAlready,
} from './refusals.ts';
import { alteredRelease, buildRelease } from './release-build.ts';
import { buildReleaseImage, givenImage, stableImage } from './release-image.ts';
import { checkRelease, resolveRelease } from './release-source.ts';
import type { DeployList, DeployRequest, PlannedDeploy, RollbackRequest } from './requests.ts';
import { type DeployRun, isOver } from './run.ts';
import { createSampleFiles } from './samples.ts';
import { createShadowSource } from './shadow/shadow-source.ts';
import { watchShadow } from './shadow/watch-shadow.ts';
import { type StableRelease, stableRelease } from './stable-release.ts';
import { tripped, unobserved } from './trip.ts';

/** Type of the event with each change of a deploy; its subject is the service. */
const DEPLOY_CHANGED = 'deploy.changed';

/** The deploys of a supervisor, for its other extensions. */
export interface DeployExtension extends SupervisorExtension {
  /** The deploy that is not over, as the refusal of what it is in the way of. */
  active(): CliError | undefined;
  /** Why nothing can be deployed here; undefined where it can. */
  unavailable(): string | undefined;
  /** A build of a service that does something wrong, in place of what it runs; see DeployEngine.force. */
  deployAltered(service: string, prelude: string, asked: Asked): Promise<DeployRun>;
  /** What each service runs in place of what the clone has built. */
  releases(): ReadonlyMap<string, Release>;
  /** Has services run what they ran then. */
  restore(before: ReadonlyMap<string, Release>, asked: Asked): Promise<void>;
}

const ACTIONS: readonly string[] = ['promote', 'pause', 'resume', 'abort'] satisfies readonly DeployAction[];

/**
 * The routes for deploys of a supervisor. `GET /v1/deploys`: DeployList. `POST /v1/deploys`: DeployRequest; the run, or what would be
 * done. `POST /v1/deploys/{promote|pause|resume|abort}`: the run. `POST /v1/deploys/rollback`: RollbackRequest; the run.
 * `POST /v1/deploys/unpin`: `{service}`.
 */
export async function openDeploys(
  context: ExtensionContext & {
    readonly env: NodeJS.ProcessEnv;
    /** Why nothing may be deployed now: what a rollout of a flag does would be taken for what the release does. */
    readonly obstacle?: () => CliError | undefined;
  },
): Promise<DeployExtension> {
  const { project, events, state, fleet, env, obstacle: obstacleToDeploys } = context;
  const { root } = project;
  const report = (problem: string) => console.error(`supervisor: ${problem}`);
  const changes = createChangeLog(project, report);
  const recorded = new Set<string>();
  const engine = new DeployEngine({
    fleet,
    journal: createDeployJournal(project, report),
    guards: createGuards({
      state,
      metrics: (names) => createBackend(state().telemetryUrl).metrics(names),
      now: () => performance.now(),
    }),
    canary: {
      observe: (plan) => openObserver(plan, { project, state }),
      samples: createSampleFiles(project, report),
    },
    stable,
    preflight: (subject, signal) => preflight(subject, signal),
    retire,
    compare,
    ...(obstacleToDeploys && { obstacle: obstacleToDeploys }),
    onProblem: report,
    onChange(run) {
      events.add(DEPLOY_CHANGED, run.service, describe(run));
      void record(run).catch((error) => report(`the deploy ${run.id}: ${messageOf(error)}`));
      if (isOver(run.state))
        void pruneReleases(project, run.service).catch((error) =>
          report(`builds of ${run.service}: ${messageOf(error)}`),
        );
    },
  });
  await engine.recover();

  /** What the service runs now, kept so that it can come back. */
  function stable(service: string): Promise<StableRelease> {
    const { runtime, instances } = state();
    if (runtime === 'docker') return stableImage(service, { root, env }, { fleet, instances });
    return stableRelease(service, root, { fleet, instances });
  }

  /** An operator sees in the changes when the calls went to another release, and when they went back. */
  async function record(run: DeployRun): Promise<void> {
    const { id, service, from, to, asked } = run;
    if ((run.state === 'shifting' || run.state === 'analysis') && !recorded.has(id)) {
      recorded.add(id);
      await changes.append({ kind: 'deploy', target: service, from, to, ...asked });
    } else if (isOver(run.state) && run.state !== 'done' && recorded.delete(id)) {
      await changes.append({
        kind: 'deploy',
        target: service,
        from: to,
        to: from,
        ...asked,
        reason: run.cause?.text ?? '',
      });
    }
  }

  async function preflight(subject: Subject, signal: AbortSignal): Promise<string> {
    // It takes no messages before it has all of them.
    if (isConsumer(subject.service)) return 'it is ready, and takes no messages yet';
    const { telemetryUrl } = state();
    return runPreflight(subject, { url: urlOf(subject, 'preflight'), telemetryUrl, project, outboxTypes, signal });
  }

  async function retire(subject: Subject, end: () => Promise<void>, signal: AbortSignal): Promise<string> {
    if (!isConsumer(subject.service))
      return runDrainCheck(subject, end, { gateway: createGatewayClient(urlOf(subject, 'drain')), signal });
    await end();
    return `${subject.instances.join(', ')} ended`;
  }

  /** Where orders that these instances serve are placed; `guard` needs it. */
  function urlOf(subject: Subject, guard: string): string {
    const { gatewayUrl, instances } = state();
    const own = instances.find(({ name }) => subject.instances.includes(name));
    const url = subject.service === 'gateway' ? own?.url : gatewayUrl;
    if (!url) throw tripped(guard, 'the gateway does not run, so no order can be placed');
    return url;
  }

  async function outboxTypes(orderId: string): Promise<readonly string[]> {
    const databaseUrls = operatorDatabaseUrls(state(), await loadOrCreateSecrets(project.secretsFile));
    return withShopDatabases({ databaseUrls }, (databases) => outboxTypesIn(databases)(orderId));
  }

  async function compare(instance: string, keepMs: number, signal: AbortSignal): Promise<string> {
    const url = state().instances.find(({ name }) => name === instance)?.url;
    if (url === undefined) throw unobserved(`${instance} has no address`);
    const databaseUrl = operatorDatabaseUrls(state(), await loadOrCreateSecrets(project.secretsFile)).shipping;
    return watchShadow(createShadowSource({ url, databaseUrl }), { keepMs, clock: systemClock }, signal);
  }

  async function planOf(request: DeployRequest): Promise<DeployPlan> {
    if ((request.strategy === 'canary') !== (request.canary !== undefined)) throw needsTerms(request.service);
    const source = await sourceOf(request);
    checkPlatform(request);
    await fleet.admit([{ service: request.service, version: source.version, where: source.description }]);
    if ((request.seedBug ?? []).length > 0 && !hasFailpoints(env)) throw needsFailpoints(request.service);
    const { service, strategy, keepMs, asked, canary } = request;
    if (canary && !request.force) await checkReach(canary.plan);
    return {
      service,
      strategy,
      source: source.description,
      version: source.version,
      keepMs,
      asked,
      isPublic: isPublic(service),
      isSurging: state().runtime === 'docker',
      ...(canary && { canary }),
      ...(request.image !== undefined && { isBuilt: true }),
      build: source.build,
    };
  }

  /** What the release is made of. Nothing is built before `build`. */
  async function sourceOf(request: DeployRequest): Promise<Pick<DeployPlan, 'version' | 'build'> & Described> {
    const { service, image } = request;
    const isDocker = state().runtime === 'docker';
    if (image !== undefined) {
      checkRelease(request);
      if (!isDocker) throw needsContainers(service);
      const { version, keep } = await givenImage({ ...request, image }, { root, env });
      return { version, description: image, build: keep };
    }
    const source = await resolveRelease(request, root);
    const build = (signal: AbortSignal) =>
      isDocker ? buildReleaseImage(source, { root, env }, signal) : buildRelease(source, root, signal);
    return { ...source, build };
  }

  /** Without any request nothing is known of the rate: a canary waits for them. */
  async function checkReach(plan: CanaryPlan): Promise<void> {
    const rate = await presentRate(async () => {
      const points = await createBackend(state().telemetryUrl).metrics([ATTEMPTS]);
      return totalsOf(points, plan.service).requests;
    });
    const refusal = rate === 0 ? undefined : refusalOf(plan, rate);
    if (refusal !== undefined) throw outOfReach(plan.service, refusal);
  }

  function checkPlatform({ service, strategy, duringChaos = false }: Checked): void {
    const { instances, faults, instrumentation } = state();
    assertNoFault(faults, 'the release', duringChaos);
    const own = instances.filter((one) => one.service === service);
    const down = own.find(({ status }) => status !== 'ready');
    if (own.length === 0 || down !== undefined) throw notReady(service, down?.name);
    if (instrumentation === 'stock') throw needsOwnInstrumentation(service);
    if (strategy === 'blue-green' && isPublic(service)) throw noSecondSet(service);
    if (strategy === 'shadow' && !isConsumer(service)) throw noCopies(service);
  }

  /** A release of before may have been built for the other runtime. */
  function checkRuntime(service: string, { version, image }: Release): void {
    if ((state().runtime === 'docker') === (image !== undefined)) return;
    throw otherRuntime(service, version, image === undefined ? 'process' : 'docker');
  }

  async function start(request: DeployRequest): Promise<DeployRun | PlannedDeploy> {
    const plan = await planOf(request);
    if (!request.dryRun) return engine.start(plan, request);
    const { kept } = await stable(plan.service);
    const names = fleet.fleetOf(plan.service).map(({ name }) => name);
    return { ...request, source: plan.source, from: kept.version, to: plan.version, steps: stepsOf(plan, names) };
  }

  async function rollBack({ service, to, keepMs, asked }: RollbackRequest): Promise<DeployRun> {
    const current = engine.current;
    if (current?.service === service && to === undefined) return engine.act('abort');
    const release = earlierRelease(engine.runs(), service, to);
    if (!existsSync(join(root, release.folder))) throw noLongerKept(service, release.version);
    const { kept } = await stable(service);
    if (kept.version === release.version) throw runsAlready(service, kept.version);
    checkPlatform({ service, strategy: 'rolling' });
    checkRuntime(service, release);
    await fleet.admit([{ service, version: release.version, where: release.folder }]);
    return engine.start({
      service,
      strategy: 'rolling',
      source: `the release ${release.version}`,
      version: release.version,
      keepMs,
      asked,
      isPublic: isPublic(service),
      isSurging: state().runtime === 'docker',
      build: async () => release,
    });
  }

  function list(): DeployList {
    const names = services.map(({ name }) => name);
    const releases = names.flatMap((name) => {
      const version = fleet.releaseOf(name)?.version;
      return version === undefined ? [] : [[name, version] as const];
    });
    const current = engine.current?.id;
    const { progress } = engine;
    return {
      runs: engine.runs(),
      ...(current !== undefined && { current }),
      ...(progress && { progress }),
      releases: Object.fromEntries(releases),
    };
  }

  async function unpin({ service, asked }: Pick<RollbackRequest, 'service' | 'asked'>): Promise<object> {
    if (!services.some(({ name }) => name === service))
      throw unknownService(
        service,
        services.map(({ name }) => name),
      );
    const from = fleet.releaseOf(service)?.version;
    if (from === undefined) return { service, changed: false };
    const beganAt = new Date().toISOString();
    await engine.unpin(service);
    await changes.append({ kind: 'deploy', target: service, from, to: 'what the clone has built', beganAt, ...asked });
    return { service, changed: true, from };
  }

  const unavailable = () => {
    const { runtime, instrumentation } = state();
    return runtime === 'docker' || instrumentation === 'stock'
      ? 'a release consists of bundles for processes'
      : undefined;
  };

  async function deployAltered(service: string, prelude: string, asked: Asked): Promise<DeployRun> {
    const source = await resolveRelease({ service }, root);
    // The next one of the same sources, whatever it is.
    const version = `${source.base}.${createHash('sha256').update(prelude).digest('hex').slice(0, 2)}`;
    await fleet.admit([{ service, version, where: source.description }]);
    return engine.force({
      service,
      strategy: 'rolling',
      source: source.description,
      version,
      keepMs: 0,
      asked,
      isPublic: isPublic(service),
      build: async (signal) =>
        alteredRelease(service, root, { release: await buildRelease(source, root, signal), version, prelude }),
    });
  }

  function releases(): ReadonlyMap<string, Release> {
    return new Map(
      services.flatMap(({ name }) => {
        const release = fleet.releaseOf(name);
        return release === undefined ? [] : [[name, release] as const];
      }),
    );
  }

  async function restore(before: ReadonlyMap<string, Release>, asked: Asked): Promise<void> {
    const after = releases();
    for (const { name } of services) {
      const [was, is] = [before.get(name), after.get(name)];
      if (is === undefined ? was === undefined : is.digest === was?.digest) continue;
      if (engine.current !== undefined) await engine.act('abort');
      if (was === undefined) await unpin({ service: name, asked });
      else {
        const plan = { service: name, strategy: 'rolling', keepMs: 0, asked, isPublic: isPublic(name) } as const;
        await engine.force({
          ...plan,
          source: `the release ${was.version}`,
          version: was.version,
          build: async () => was,
        });
      }
    }
  }

  return {
    active: () => engine.current && activeDeploy(engine.current, 'one would be taken for the other'),
    unavailable,
    deployAltered,
    releases,
    restore,
    async handle(route, request, response) {
      const action = /^POST \/v1\/deploys\/([a-z]+)$/.exec(route)?.[1] ?? '';
      if (route === 'GET /v1/deploys') sendJson(response, list());
      else if (route === 'POST /v1/deploys') sendJson(response, await start(await readJson(request)));
      else if (ACTIONS.includes(action)) sendJson(response, await engine.act(action as DeployAction));
      else if (action === 'rollback') sendJson(response, await rollBack(await readJson(request)));
      else if (action === 'unpin') sendJson(response, await unpin(await readJson(request)));
      else return false;
      return true;
    },
    obstacleTo: (operation) => obstacle(operation, engine.current),
    activeFaults: () => [],
    end: () => engine.end(),
  };
}

interface Described {
  /** For people. */
  readonly description: string;
}

type Checked = Pick<DeployRequest, 'service' | 'strategy' | 'duringChaos'>;

function isPublic(service: string): boolean {
  return services.some(({ name, preferredPort }) => name === service && preferredPort !== undefined);
}

/** It takes messages from a queue. */
function isConsumer(service: string): boolean {
  return services.some(({ name, consumes }) => name === service && consumes === true);
}

function describe({ to, state, cause, steps, isPaused }: DeployRun): string {
  const what = isOver(state) || state === 'rolling-back' ? cause?.text : steps.at(-1)?.text;
  return [`${to}: ${isPaused ? 'paused' : state}`, what].filter((part) => part !== undefined).join(': ');
}

/** What operators ask for while a deploy is not over, and what would be in its way. */
function obstacle(operation: PlatformOperation, run: DeployRun | undefined): CliError | undefined {
  if (run === undefined || !concerns(operation, run.service)) return undefined;
  return activeDeploy(run, 'it changes the same instances');
}

function activeDeploy({ service, to, state }: DeployRun, why: string): CliError {
  return new CliError({
    code: 'deploy_active',
    what: `a deploy of ${service} to ${to} is ${state}`,
    why,
    next: 'wait for its end ("shopctl deploy status"), or roll it back ("shopctl deploy abort")',
  });
}

function concerns(operation: PlatformOperation, service: string): boolean {
  if (operation.kind === 'up') return true;
  if (operation.kind === 'scale') return Object.hasOwn(operation.replicas, service);
  if (operation.kind === 'act') return operation.name === service || operation.name.startsWith(`${service}-`);
  return operation.kind === 'drain' && operation.instance.startsWith(`${service}-`);
}

/** The release with this version, or the one that ran before the last that was deployed. */
function earlierRelease(runs: readonly DeployRun[], service: string, version: string | undefined): Release {
  const done = runs.filter((run) => run.service === service && run.state === 'done').toReversed();
  const known = rollbackTargets(runs, service);
  const found = version === undefined ? done[0]?.releases?.from : known.find((release) => release.version === version);
  if (found !== undefined) return found;
  const versions = known.map((release) => release.version);
  throw new CliError({
    code: 'no_deploy',
    what: version === undefined ? `${service} was not deployed yet` : `${service} had no release ${version}`,
    next: versions.length > 0 ? `known: ${versions.join(', ')}` : 'see "shopctl deploy history"',
  });
}
