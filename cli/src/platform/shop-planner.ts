import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Track } from '@shop/kit/release.ts';
import type { SeededBugName } from '@shop/kit/seeded-bug-names.ts';
import { CliError, messageOf } from '../errors.ts';
import { createJaegerRelay, type JaegerRelay } from '../otlp/jaeger-relay.ts';
import { type OtlpReceiver, startOtlpReceiver } from '../otlp/receiver.ts';
import type { Address, Launch, ProviderKind } from '../providers/component.ts';
import { resolveComponent } from '../providers/resolve.ts';
import { loadOrCreateSecrets, type Secrets } from '../providers/secrets.ts';
import { ComponentUnavailableError } from '../providers/unavailable.ts';
import type { ComponentName } from '../topology/components.ts';
import {
  dependenciesOf,
  type Edge,
  edges,
  instanceName,
  proxyName,
  type ServiceDefinition,
  serviceNames,
  services,
} from '../topology/services.ts';
import { admissionFile, admissionFolder } from './admission-file.ts';
import { componentContext } from './component-context.ts';
import { componentUnit } from './component-unit.ts';
import { dockerRuntime } from './docker-runtime.ts';
import { failpointFolder, hasFailpoints } from './failpoint-files.ts';
import { flagFile, flagFolder } from './flag-file.ts';
import { type FleetMember, usualMembers } from './fleet.ts';
import { withDependencies } from './graph.ts';
import { probeHealth, type RunningRelease } from './health-probe.ts';
import { feedLogs } from './log-feed.ts';
import type { Plan, Planner, PlannerContext, PlanRequest } from './plan.ts';
import { createPlatformGate, type KeptReleases } from './platform-gate.ts';
import type { PortAllocator } from './ports.ts';
import { processRuntime } from './process-runtime.ts';
import type { Project } from './project.ts';
import { databasePoolSizeIn, serviceEnvironment } from './service-environment.ts';
import type { RuntimeKind, ServiceRuntime } from './service-runtime.ts';
import { changeSettings } from './settings.ts';
import { createSharedPorts, type SharedPorts } from './shared-port.ts';
import type { EdgeState } from './state.ts';
import { createProxyReconciler, type ProxyReconciler } from './toxiproxy-wiring.ts';
import type { Unit } from './unit.ts';
import { type Route, upstreamsFile, upstreamsFolder } from './upstreams-file.ts';

export interface ShopPlannerOptions extends PlannerContext {
  readonly project: Project;
  readonly env: NodeJS.ProcessEnv;
  readonly keptReleases: KeptReleases;
}

const LOOPBACK = '127.0.0.1';
/** Where debuggers look first. Source: Node.js, "Debugging Node.js". */
const FIRST_INSPECTOR_PORT = 9229;
/** Under this name the gateway's port is kept, which all replicas share: a state of an older version has it. */
const GATEWAY = 'gateway-1';

/** Plans the six services, their components, the proxies between them and the telemetry receiver. */
export async function createShopPlanner(options: ShopPlannerOptions): Promise<Planner> {
  const { project, ports } = options;
  const secrets = await loadOrCreateSecrets(project.secretsFile);
  const receiver = await startOtlpReceiver({ host: LOOPBACK, port: await ports.reserve('otlp') });
  const gate = createPlatformGate({ ...options, root: project.root });
  const context = componentContext({ ...options, secrets, telemetryUrl: receiver.url, schemaGate: gate });
  // A component keeps its provider and ports for as long as this supervisor lives.
  const launches = new Map<ComponentName, Promise<Launch>>();
  const launchOf = (name: ComponentName, forced: string | undefined) => {
    const earlier = launches.get(name);
    if (earlier) return earlier.then((launch) => keptLaunch(launch, forced));
    const launch = resolveComponent(name, context, { forced: forced as ProviderKind | undefined });
    launches.set(name, launch);
    // One that is not available now may be there at the next `up`.
    launch.catch(() => launches.delete(name));
    return launch;
  };
  const proxies = createProxyReconciler();
  const sharedPorts = createSharedPorts(LOOPBACK);
  // As it was at the start, but for the settings of services.
  let { env } = options;
  const jaeger = keepJaeger(
    receiver,
    launchOf,
    (name) => launches.has(name) || options.env.SHOPCTL_JAEGER_URL !== undefined,
  );
  const feed = feedLogs(project.logDir, (line) => receiver.logs.addLine(line));
  return {
    serviceNames,
    async plan(request) {
      const settings = changeSettings(env, request.settings);
      const planning = {
        ...options,
        env: settings.env,
        secrets,
        telemetryUrl: receiver.url,
        launchOf,
        proxies,
        sharedPorts,
        jaeger,
      };
      const plan = await planShop(planning, request);
      await gate.acceptPointsOfNoReturn(request.pointOfNoReturn ?? false);
      env = settings.env;
      return { ...plan, warnings: [...settings.warnings, ...plan.warnings], changedSettings: settings.changed };
    },
    admit: gate.admit,
    ports: () => ports.all(),
    setTelemetryUnavailable: (isUnavailable) => receiver.setUnavailable(isUnavailable),
    takeMetrics: (report) => void receiver.metrics.replace(report, Date.now()),
    serve: (guest) => receiver.serve(guest),
    async close() {
      feed.end();
      jaeger.close();
      await receiver.close();
    },
  };
}

/** Its data and its ports are those of its provider, so another one needs a new start. Throws CliError (2). */
function keptLaunch(launch: Launch, forced: string | undefined): Launch {
  if (forced === undefined || forced === launch.kind) return launch;
  throw new CliError({
    code: 'restart_required',
    what: `${launch.component} cannot be changed to "${forced}" while the platform runs`,
    why: `it is "${launch.kind}": ${launch.detail}`,
    next: `run "shopctl down", then "shopctl up --provider ${launch.component}=${forced}"`,
  });
}

interface Planning extends ShopPlannerOptions {
  readonly secrets: Secrets;
  readonly telemetryUrl: string;
  readonly launchOf: (name: ComponentName, forced: string | undefined) => Promise<Launch>;
  readonly proxies: ProxyReconciler;
  readonly sharedPorts: SharedPorts;
  readonly jaeger: JaegerLifecycle;
}

interface JaegerLifecycle {
  /** Jaeger when it is wanted: forced by a provider, named by its URL, or there since an earlier `up`. */
  launch(forced: string | undefined): Promise<Launch | undefined>;
  close(): void;
}

/** OTLP over HTTP, unless the provider says otherwise. Source: OpenTelemetry Protocol, "Default ports". */
const OTLP_HTTP_PORT = 4318;

/** Services export to our receiver whatever stores their traces, so that a Jaeger can come later or be unavailable. */
function keepJaeger(
  receiver: OtlpReceiver,
  launchOf: Planning['launchOf'],
  isWanted: (name: ComponentName) => boolean,
): JaegerLifecycle {
  let relay: JaegerRelay | undefined;
  return {
    async launch(forced) {
      if (forced === undefined && !isWanted('jaeger')) return undefined;
      const launch = await launchOf('jaeger', forced);
      if (relay) return launch;
      const { host, port } = launch.address;
      const address = {
        queryUrl: launch.externalUrl ?? `http://${host}:${port}`,
        otlpUrl: `http://${host}:${launch.info.otlpPort ?? OTLP_HTTP_PORT}`,
      };
      relay = createJaegerRelay(address, (message) => console.error(`supervisor: ${message}`));
      receiver.relay(relay);
      return launch;
    },
    close: () => relay?.close(),
  };
}

async function planShop(planning: Planning, request: PlanRequest): Promise<Plan> {
  const seededBugs = allowedSeededBugs(request, planning.env);
  const runtime = await runtimeOf(request, planning);
  const wanted = wantedNodes(request.services);
  const wantedServices = services.filter(({ name }) => wanted.has(name));
  const needs = (name: ComponentName) => wanted.has(name);
  const [postgres, rabbitmq, toxiproxy, jaeger, prometheus] = await Promise.all([
    needs('postgres') ? planning.launchOf('postgres', request.providers.postgres) : undefined,
    needs('rabbitmq') ? planning.launchOf('rabbitmq', request.providers.rabbitmq) : undefined,
    request.direct ? undefined : toxiproxyOrReason(planning, request.providers.toxiproxy),
    planning.jaeger.launch(request.providers.jaeger),
    request.alerts ? planning.launchOf('prometheus', request.providers.prometheus) : undefined,
  ]);
  const proxy = typeof toxiproxy === 'string' ? undefined : toxiproxy;
  const membersOf = (name: string) => request.fleet?.[name] ?? usualMembers(request.replicas[name] ?? 1, undefined);
  const gatewayBefore = planning.ports.all()[GATEWAY];
  // First of all, so that nothing has been reserved when it is not available.
  if (request.port === 0) await planning.ports.reserve(GATEWAY);
  else if (request.port !== undefined) await planning.ports.require(GATEWAY, request.port);
  const ports = await reserveServicePorts(planning.ports, services, { membersOf, runtime: runtime.kind });
  const inspectors = await reserveInspectors(request, { planning, runtime, wanted, membersOf });
  const gatewayPort = ports.get(GATEWAY)?.main;
  const endOf = (edge: Edge, replica: number): Address | undefined => {
    if (edge.to === 'postgres') return postgres?.address;
    if (edge.to === 'rabbitmq') return rabbitmq?.address;
    return { host: LOOPBACK, port: ports.get(instanceName(edge.to, replica))?.main as number };
  };
  const running = new Set(request.running);
  const isWired = ({ from, to }: Edge) => wanted.has(from) || (running.has(from) && wanted.has(to) && isService(to));
  const wired = await wireEdges({ ports: planning.ports, isWired, membersOf, endOf, proxied: proxy !== undefined });
  const endpoints = Map.groupBy(wired, ({ edge }) => edge);
  const units = wantedServices.flatMap((definition) =>
    membersOf(definition.name).map((member): PlannedReplica => {
      const instance = instanceName(definition.name, member.number);
      return { definition, instance, member, ports: ports.get(instance) as ServicePorts };
    }),
  );
  const edgeStates = wired.map(({ state }) => state);
  const proxyUrl = proxy && `http://${proxy.address.host}:${proxy.address.port}`;
  if (proxyUrl !== undefined) planning.proxies.want(proxyUrl, edgeStates);
  const componentUnits = [rabbitmq, postgres, proxy, jaeger, prometheus]
    .filter((launch) => launch !== undefined)
    .map((launch) =>
      componentUnit({
        launch,
        logFile: join(planning.project.logDir, `${launch.component}.log`),
        registry: planning.registry,
        ...(launch === prometheus && { isExtra: true }),
        ...(launch === proxy && { afterSetUp: () => planning.proxies.populate({ isEmpty: true }) }),
      }),
    );
  const serviceUnits = await Promise.all(
    units.map(({ definition, instance, member, ports: own }) =>
      serviceUnit({
        planning,
        runtime,
        definition,
        instance,
        member,
        ports: own,
        inspector: inspectors.get(instance),
        proxied: proxy !== undefined,
        externalBrokerUrl: rabbitmq?.externalUrl,
        seededBugs,
        endpointsOf: (edge) => (endpoints.get(edge) ?? []).map(({ address }) => address),
        proxies: wired.filter(({ route }) => route.instance === instance).map(({ state }) => state.name),
      }),
    ),
  );
  return {
    units: [...componentUnits, ...serviceUnits],
    edges: proxy ? edgeStates : [],
    routes: [...wired.map(({ route }) => route), ...units.flatMap(deliveriesTo)],
    gatewayUrl: wanted.has('gateway') ? `http://${LOOPBACK}:${ports.get('gateway-1')?.main}` : '',
    telemetryUrl: planning.telemetryUrl,
    ...(proxyUrl !== undefined && { toxiproxyUrl: proxyUrl }),
    direct: proxy === undefined,
    runtime: runtime.kind,
    instrumentation: request.instrumentation ?? 'manual',
    alerts: request.alerts ?? false,
    seededBugs,
    ...(request.inspect && { inspect: request.inspect }),
    databasePoolSize: databasePoolSizeIn(planning.env),
    warnings: [
      ...(typeof toxiproxy === 'string' ? [toxiproxy] : []),
      ...wantedServices.flatMap(({ name }) => pinned(name, membersOf(name))),
      ...(wanted.has('gateway') ? movedGateway({ gatewayPort, gatewayBefore, asked: request.port }) : []),
    ],
  };
}

/** What `up` builds of such a service is not started: that is said. */
function pinned(service: string, members: readonly FleetMember[]): string[] {
  const versions = new Set(members.flatMap(({ release, weight }) => (release && weight > 0 ? [release.version] : [])));
  if (versions.size === 0) return [];
  const ways = `"shopctl deploy ${service}" deploys the sources, "shopctl deploy unpin ${service}" follows them again`;
  return [`${service} runs the release ${[...versions].join(' and ')}, not what the clone has built (${ways})`];
}

/** A gateway that is not on its usual port is reported, once. */
function movedGateway(ports: { gatewayPort?: number; gatewayBefore?: number; asked?: number }): string[] {
  const { gatewayPort, gatewayBefore, asked } = ports;
  const usual = gatewayBefore ?? services.find(({ name }) => name === 'gateway')?.preferredPort;
  if (asked !== undefined || gatewayPort === usual) return [];
  return [`port ${usual} is taken: the gateway listens on ${gatewayPort} ("shopctl up --port" chooses one)`];
}

function runtimeOf({ runtime = 'process', instrumentation }: PlanRequest, { project, registry, env }: Planning) {
  return runtime === 'docker' ? dockerRuntime(project, env) : processRuntime(project, registry, instrumentation);
}

/** Throws CliError (3) for seeded bugs where failpoints are not enabled: a platform for use has neither. */
function allowedSeededBugs({ seededBugs = [] }: PlanRequest, env: NodeJS.ProcessEnv): readonly SeededBugName[] {
  if (seededBugs.length === 0 || hasFailpoints(env)) return seededBugs;
  throw new CliError({
    code: 'failpoints_disabled',
    what: `${seededBugs.join(', ')} cannot be seeded`,
    why: 'seeded bugs need a platform that was started with failpoints',
    next: 'run "shopctl down", then "SHOPCTL_FAILPOINTS=1 shopctl up --seed-bug ..."',
  });
}

/** The asked services (all when none is named) and the ends of their edges. */
function wantedNodes(names: readonly string[]): ReadonlySet<string> {
  const nodes = [
    ...services.map(({ name }) => ({ name, dependsOn: dependenciesOf(name) })),
    ...['postgres', 'rabbitmq'].map((name) => ({ name, dependsOn: [] })),
  ];
  const all = names.length === 0 ? serviceNames : names;
  return new Set(withDependencies(all, nodes).map(({ name }) => name));
}

/** Toxiproxy, or the warning to print when it is not available: without it the platform is wired directly. */
async function toxiproxyOrReason(planning: Planning, forced: string | undefined): Promise<Launch | string> {
  try {
    return await planning.launchOf('toxiproxy', forced);
  } catch (error) {
    // Who forces a provider wants it, or to know why not.
    if (forced !== undefined || !(error instanceof ComponentUnavailableError)) throw error;
    return 'Toxiproxy is not installed: services are wired directly, network faults cannot be injected ("shopctl setup" installs it)';
  }
}

type MembersOf = (service: string) => readonly FleetMember[];

type ServicePorts = {
  readonly main: number;
  /** Where its health is asked for, if not there. */
  readonly health?: number;
  /** The same of a process that replaces it, while both run. */
  readonly spare?: number;
};

async function reserveServicePorts(
  allocator: PortAllocator,
  definitions: readonly ServiceDefinition[],
  { membersOf, runtime }: { membersOf: MembersOf; runtime: RuntimeKind },
): Promise<ReadonlyMap<string, ServicePorts>> {
  const ports = new Map<string, ServicePorts>();
  for (const definition of definitions) {
    const { name, protocol, preferredPort } = definition;
    const isShared = isPortShared(definition, runtime);
    for (const { number, isPrivate } of membersOf(name)) {
      const instance = instanceName(name, number);
      const shares = preferredPort !== undefined && !isPrivate;
      const owner = isPrivate ? `${instance}:private` : instance;
      const main = await (shares ? allocator.reserve(instanceName(name, 1), preferredPort) : allocator.reserve(owner));
      const health = isShared || protocol === 'grpc' ? await allocator.reserve(`${instance}:health`) : undefined;
      const spare = isShared ? await allocator.reserve(`${instance}:spare`) : undefined;
      ports.set(instance, { main, ...(health !== undefined && { health }), ...(spare !== undefined && { spare }) });
    }
  }
  return ports;
}

/** Processes inherit a socket. Containers do not: only the replicas of the gateway share their port there. */
function isPortShared({ preferredPort }: ServiceDefinition, runtime: RuntimeKind): boolean {
  return runtime === 'process' || preferredPort !== undefined;
}

interface Inspected {
  readonly planning: Planning;
  readonly runtime: ServiceRuntime;
  readonly wanted: ReadonlySet<string>;
  readonly membersOf: MembersOf;
}

/** Where the inspector of each replica listens that is to wait for a debugger: a client that reaches it can run code there. */
async function reserveInspectors(
  { inspect = {} }: PlanRequest,
  { planning: { ports }, runtime, wanted, membersOf }: Inspected,
): Promise<ReadonlyMap<string, string>> {
  const addresses = new Map<string, string>();
  for (const [service, first] of Object.entries(inspect)) {
    if (!wanted.has(service))
      throw notInspected(service, 'nothing that was named needs it', `name it: "shopctl up ${service} ..."`);
    if (runtime.kind === 'docker') {
      throw notInspected(
        service,
        'services run as containers',
        'run them as processes: "shopctl up --runtime process"',
      );
    }
    for (const [index, { number }] of membersOf(service).entries()) {
      const instance = instanceName(service, number);
      const port =
        first === null
          ? await ports.reserve(`${instance}:inspector`, FIRST_INSPECTOR_PORT)
          : await requireInspector(ports, instance, first + index);
      addresses.set(instance, `${LOOPBACK}:${port}`);
    }
  }
  return addresses;
}

function notInspected(service: string, why: string, next: string): CliError {
  return new CliError({ code: 'invalid_usage', what: `${service} cannot wait for a debugger`, why, next });
}

/** The port is a part of the name under which it is kept: another one may be chosen while the platform runs. */
async function requireInspector(ports: PortAllocator, instance: string, port: number): Promise<number> {
  try {
    return await ports.require(`${instance}:inspector:${port}`, port);
  } catch (cause) {
    if (!(cause instanceof CliError)) throw cause;
    throw new CliError({
      code: 'port_taken',
      what: `port ${port} is taken`,
      why: `the inspector of ${instance} was to listen there`,
      next: 'choose another one with --inspect SERVICE=PORT, or leave out the port',
      cause,
    });
  }
}

interface PlannedReplica {
  readonly definition: ServiceDefinition;
  readonly instance: string;
  readonly member: FleetMember;
  readonly ports: ServicePorts;
}

interface Wiring {
  readonly ports: PortAllocator;
  readonly isWired: (edge: Edge) => boolean;
  readonly membersOf: MembersOf;
  readonly endOf: (edge: Edge, replica: number) => Address | undefined;
  readonly proxied: boolean;
}

interface WiredEdge {
  readonly edge: Edge;
  /** Where the caller connects: the proxy, or the end itself. */
  readonly address: Address;
  readonly state: EdgeState;
  readonly route: Route;
}

async function wireEdges({ ports, isWired, membersOf, endOf, proxied }: Wiring): Promise<readonly WiredEdge[]> {
  const wired: WiredEdge[] = [];
  for (const edge of edges.filter(isWired)) {
    for (const { number: replica } of isService(edge.to) ? membersOf(edge.to) : [{ number: 1 }]) {
      const end = endOf(edge, replica);
      if (!end) throw new Error(`edge ${edge.name} has no end`);
      const name = proxyName(edge, replica);
      const address = proxied ? { host: LOOPBACK, port: await ports.reserve(`edge:${name}`) } : end;
      const state = { name, from: edge.from, to: edge.to, listen: hostPort(address), upstream: hostPort(end) };
      const route = {
        edge: edge.name,
        ...(isService(edge.to) && { instance: instanceName(edge.to, replica) }),
        primary: state.listen,
        standby: state.upstream,
      };
      wired.push({ edge, address, state, route });
    }
  }
  return wired;
}

/** How the queue of a consuming service reaches a replica. */
function deliveriesTo({ definition, instance, ports }: PlannedReplica): Route[] {
  if (!definition.consumes) return [];
  const address = hostPort({ host: LOOPBACK, port: ports.main });
  return [{ edge: `broker-${definition.name}`, instance, primary: address, standby: address, isDelivery: true }];
}

function isService(name: string): boolean {
  return (serviceNames as readonly string[]).includes(name);
}

function hostPort({ host, port }: Address): string {
  return `${host}:${port}`;
}

interface ServiceUnitOptions {
  readonly planning: Planning;
  readonly runtime: ServiceRuntime;
  readonly definition: ServiceDefinition;
  readonly instance: string;
  readonly member: FleetMember;
  readonly ports: ServicePorts;
  readonly inspector: string | undefined;
  readonly proxied: boolean;
  readonly externalBrokerUrl: string | undefined;
  readonly seededBugs: readonly SeededBugName[];
  readonly endpointsOf: (edge: Edge) => readonly Address[];
  /** Of the edges that lead to it. */
  readonly proxies: readonly string[];
}

async function serviceUnit(options: ServiceUnitOptions): Promise<Unit> {
  const { planning, runtime, definition, instance, member, ports, inspector, proxied } = options;
  const { project, secrets, telemetryUrl } = planning;
  const { main, health = main, spare } = ports;
  const replica =
    spare === undefined
      ? undefined
      : planning.sharedPorts.replica({
          instance,
          port: main,
          own: [health, spare],
          ownVariable: definition.protocol === 'grpc' ? 'HEALTH_PORT' : 'INSTANCE_PORT',
          withoutProcess: definition.preferredPort === undefined ? 'refused' : 'wait',
        });
  const env = serviceEnvironment({
    definition,
    instance,
    // The port that changes from process to process is not planned.
    ports: replica ? { main } : { main, ...(definition.protocol === 'grpc' && { health }) },
    endpointsOf: options.endpointsOf,
    secrets,
    externalBrokerUrl: options.externalBrokerUrl,
    telemetryUrl,
    compileCacheDir: join(project.cacheDir, 'compile-cache'),
    flagFile: flagFile(flagFolder(project)),
    upstreamsFile: upstreamsFile(upstreamsFolder(project)),
    admissionFile: admissionFile(admissionFolder(project)),
    failpointDir: hasFailpoints(planning.env) ? failpointFolder(project) : undefined,
    seededBugs: options.seededBugs,
    release: member.release,
    track: trackOf(member),
    env: planning.env,
  });
  const source = await runtime.source(definition, member.release);
  const logFile = join(project.logDir, `${instance}.log`);
  const dependsOn = [...new Set(dependenciesOf(definition.name))];
  let pid: number | undefined;
  let release: RunningRelease = {};
  const components = dependsOn.filter((name) => name === 'postgres' || name === 'rabbitmq');
  return {
    name: instance,
    service: definition.name,
    kind: 'service',
    dependsOn: proxied ? [...dependsOn, 'toxiproxy'] : dependsOn,
    // PostgreSQL is up in a blink and has the schema then; the broker is slow, and services retry until it responds.
    waitsFor: [...components.filter((name) => name === 'postgres'), ...(proxied ? ['toxiproxy'] : [])],
    get ports() {
      return replica?.ports() ?? ports;
    },
    ...(definition.protocol === 'http' && { url: `http://${LOOPBACK}:${main}` }),
    ...(source.detail !== undefined && { detail: source.detail }),
    ...(source.info && { info: source.info(instance) }),
    ...(inspector !== undefined && { inspector }),
    logFile,
    fingerprint: fingerprintOf(withoutCallees(env, definition.name), runtime.kind, source.version, inspector ?? ''),
    code: source.version,
    // Toxiproxy may have been running before this service had edges.
    ...(proxied && {
      prepare: () => planning.proxies.populate({ isEmpty: false }),
      dispose: () => planning.proxies.remove(options.proxies),
    }),
    async start(conditions) {
      release = {};
      const planned = { name: instance, env, logFile, ...(inspector !== undefined && { inspector }) };
      const running = await (replica ? replica.start(source, planned, conditions) : source.start(planned, conditions));
      pid = running.process?.pid;
      return running;
    },
    async probe(signal) {
      try {
        release = await probeHealth(replica?.ports().health ?? health, pid, signal);
      } catch (cause) {
        if (inspector === undefined) throw cause;
        throw new Error(`${messageOf(cause)}: it waits for a debugger on ${inspector}, or one has paused it`, {
          cause,
        });
      }
    },
    // One of an older version does not know what it is called.
    release: () => ({ ...release, ...(member.release && { version: member.release.version }) }),
    ...(replica && { leave: replica.leave }),
    // Two processes cannot have one inspector.
    ...(replica && runtime.kind === 'process' && inspector === undefined && { beside: runtime.kind }),
  };
}

/** Without the addresses of the services that it calls: these it follows in the file of upstreams. */
function withoutCallees(env: Readonly<Record<string, string>>, service: string): Record<string, string> {
  const calls = edges.filter(({ from, protocol }) => from === service && (protocol === 'http' || protocol === 'grpc'));
  const names = new Set(calls.map(({ variable }) => variable));
  return Object.fromEntries(Object.entries(env).filter(([name]) => !names.has(name)));
}

/** Changes with the environment and with what the service is made from. */
/** What the environment of a process says of its track; nothing where it is the usual one. */
function trackOf({ startedAs, track }: FleetMember): Track | undefined {
  const own = startedAs ?? track;
  return own === 'stable' ? undefined : own;
}

function fingerprintOf(env: Readonly<Record<string, string>>, ...source: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify([env, source]))
    .digest('hex');
}
