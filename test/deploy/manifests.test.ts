/**
 * The manifests against what they repeat: the command line's table of services and edges, the services' own
 * configuration, limits and routes. Each folder that is applied separately is rendered as `kubectl apply -k` would.
 */
import { basename, dirname } from 'node:path';
import { edges as edgeLimits } from '@shop/kit/edges.ts';
import { offDefinition, parseFlagFile } from '@shop/kit/flag-file.ts';
import { flagNames, flags } from '@shop/kit/flag-names.ts';
import { createHealth } from '@shop/kit/health.ts';
import { createLogger } from '@shop/kit/logger.ts';
import { createServer } from '@shop/kit/server.ts';
import { TELEMETRY_SHUTDOWN_MS } from '@shop/kit/telemetry/shutdown.ts';
import { ORDER_CONFIRMED_QUEUE } from '@shop/kit/topology.ts';
import { beforeAll, describe, expect, it } from 'vitest';
import { databaseNames } from '../../cli/src/topology/databases.ts';
import { edges, type ServiceName, serviceNames } from '../../cli/src/topology/services.ts';
import { serviceConfigs } from '../support/service-configs.ts';
import { environmentOf, watchedEnvironment } from './support/environment.ts';
import {
  type Container,
  find,
  type Manifest,
  ofKind,
  type PodTemplate,
  type Selector,
  type Service,
  selects,
  type Workload,
} from './support/manifest.ts';
import { mayConnect, type Pod, waysOut } from './support/network-policy.ts';
import { applied, cannotRender, render } from './support/render.ts';

const COLLECTOR = 'otel-collector';
/** For a machine of one's own. */
const ONE_POD_EACH = 'overlays/local';
const RENDER_LIMIT_MS = 120_000;

const rendered = new Map<string, readonly Manifest[]>();
const at = (folder: string): readonly Manifest[] => rendered.get(folder) as readonly Manifest[];

beforeAll(async () => {
  if (cannotRender !== undefined) return;
  for (const folder of applied) rendered.set(folder, await render(folder));
}, RENDER_LIMIT_MS);

const systems = applied.filter((folder) => !folder.endsWith('/migrations'));
const migrations = applied.filter((folder) => folder.endsWith('/migrations'));

const nameOf = ({ template }: Workload) => template.metadata.labels['app.kubernetes.io/name'] ?? '';
const deployments = (folder: string) => ofKind<Workload>(at(folder), 'Deployment');
const serviceDeployments = (folder: string) =>
  deployments(folder).filter(({ spec }) => serviceNames.includes(nameOf(spec) as ServiceName));
const containerOf = ({ template }: { readonly template: PodTemplate }): Container => template.spec.containers[0];
const podOf = ({ template }: Workload): Pod => ({
  labels: template.metadata.labels,
  ports: template.spec.containers[0].ports,
});

describe.skipIf(cannotRender !== undefined).each(systems)('deploy/%s', (folder) => {
  it('has one stable Deployment for each service of the command line, and the collector', () => {
    const stable = deployments(folder).filter(({ spec }) => spec.template.metadata.labels.track !== 'canary');
    expect(stable.map(({ metadata }) => metadata.name).toSorted()).toEqual([...serviceNames, COLLECTOR].toSorted());
  });

  it('gives every service an environment that its own configuration takes, and nothing that it does not read', () => {
    for (const { metadata, spec } of serviceDeployments(folder)) {
      const { env, read } = watchedEnvironment(environmentOf(containerOf(spec), at(folder)));
      serviceConfigs[nameOf(spec) as ServiceName].loadConfig(env);
      const unread = Object.keys(env).filter((name) => !read.has(name) && !name.startsWith('OTEL_'));
      expect(unread, metadata.name).toEqual([]);
    }
  });

  it('names every service to telemetry as the command line does', () => {
    for (const { spec } of serviceDeployments(folder))
      expect(environmentOf(containerOf(spec), at(folder)).OTEL_SERVICE_NAME).toBe(nameOf(spec));
  });

  it('leads every edge between services to a port of the service it is named after', () => {
    for (const { spec } of serviceDeployments(folder)) {
      const own = edges.filter(({ from, to }) => from === nameOf(spec) && serviceNames.includes(to as ServiceName));
      for (const edge of own) {
        const value = containerOf(spec).env?.find(({ name }) => name === edge.variable)?.value ?? '';
        const [, host = '', port] = /^(?:http:\/\/)?([a-z-]+):(\d+)$/.exec(value) ?? [];
        const service = find<Service>(at(folder), 'Service', host);
        const entry = service.spec.ports.find((one) => one.port === Number(port));
        const target = deployments(folder).filter((one) =>
          selects({ matchLabels: service.spec.selector }, one.spec.template.metadata.labels),
        );
        expect(
          target.map((one) => nameOf(one.spec)),
          edge.name,
        ).toEqual([edge.to]);
        const listens = containerOf(target[0]?.spec as Workload).ports?.find(({ name }) => name === entry?.targetPort);
        expect(environmentOf(containerOf(target[0]?.spec as Workload), at(folder)).PORT, edge.name).toBe(
          String(listens?.containerPort),
        );
      }
    }
  });

  it("takes the URLs of databases and broker from each service's own Secret", () => {
    for (const { metadata, spec } of serviceDeployments(folder)) {
      const wanted = edges
        .filter(({ from, variable }) => from === nameOf(spec) && /^(DATABASE|BROKER)_URL$/.test(variable))
        .map(({ from, variable }) => [
          variable,
          `${from}-${variable === 'DATABASE_URL' ? 'database' : 'broker'}`,
          'url',
        ]);
      const given = (containerOf(spec).env ?? []).flatMap(({ name, valueFrom }) =>
        valueFrom?.secretKeyRef === undefined ? [] : [[name, valueFrom.secretKeyRef.name, valueFrom.secretKeyRef.key]],
      );
      expect(given.toSorted(), metadata.name).toEqual(wanted.toSorted());
    }
  });

  it('mounts every flag where the service that asks for it looks, as a folder that running pods see change', () => {
    for (const service of new Set(Object.values(flags).map((flag) => flag.service))) {
      for (const { metadata, spec } of serviceDeployments(folder).filter((one) => nameOf(one.spec) === service)) {
        const path = environmentOf(containerOf(spec), at(folder)).FLAGS_FILE ?? '';
        const mount = containerOf(spec).volumeMounts?.find(({ mountPath }) => mountPath === dirname(path));
        expect(mount?.subPath, metadata.name).toBeUndefined();
        const volume = spec.template.spec.volumes?.find(({ name }) => name === mount?.name);
        expect(volume?.configMap?.name, metadata.name).toMatch(/^feature-flags(-canary)?$/);
        const { data } = find(at(folder), 'ConfigMap', volume?.configMap?.name ?? '');
        const values = data?.[basename(path)] ?? '';
        const allOff = Object.fromEntries(flagNames.map((name) => [name, offDefinition]));
        expect(parseFlagFile(values).flags).toEqual(allOff);
      }
    }
  });

  it('lets exactly the edges through between pods', () => {
    const pods = serviceDeployments(folder).map(({ metadata, spec }) => ({
      name: metadata.name,
      spec,
      pod: podOf(spec),
    }));
    const open = pods.flatMap((from) =>
      pods.flatMap((to) =>
        (to.pod.ports ?? [])
          .filter(({ containerPort }) => mayConnect(at(folder), from.pod, to.pod, containerPort))
          .map(({ name }) => `${nameOf(from.spec)} -> ${nameOf(to.spec)} ${name}`),
      ),
    );
    const wanted = edges
      .filter(({ to }) => serviceNames.includes(to as ServiceName))
      .map(({ from, to, protocol }) => `${from} -> ${to} ${protocol}`);
    expect([...new Set(open)].toSorted()).toEqual(wanted.toSorted());
  });

  it('lets services out to their databases and their broker, to names and to telemetry, and nowhere else', () => {
    const postgres = new Set<string>();
    const rabbitmq = new Set<string>();
    for (const { spec } of serviceDeployments(folder)) {
      for (const way of reachable(folder, podOf(spec))) {
        if (way === 'postgres') postgres.add(nameOf(spec));
        else if (way === 'rabbitmq') rabbitmq.add(nameOf(spec));
        else expect(way).toBe('names');
      }
    }
    const clientsOf = (component: string) => edges.filter(({ to }) => to === component).map(({ from }) => from);
    expect([...postgres].toSorted()).toEqual(clientsOf('postgres').toSorted());
    expect([...rabbitmq].toSorted()).toEqual(clientsOf('rabbitmq').toSorted());
  });

  it('lets every service send telemetry to the collector, and the collector call no service', () => {
    const collector = podOf(find<Workload>(at(folder), 'Deployment', COLLECTOR).spec);
    for (const { spec } of serviceDeployments(folder)) {
      const pod = podOf(spec);
      expect(mayConnect(at(folder), pod, collector, 4318)).toBe(true);
      expect(mayConnect(at(folder), pod, collector, 8889)).toBe(false);
      for (const { containerPort } of pod.ports ?? [])
        expect(mayConnect(at(folder), collector, pod, containerPort)).toBe(false);
    }
  });

  it('asks for health where the services serve it', async () => {
    const logger = createLogger({ service: 'test', instance: 'test-1', level: 'silent' });
    await using server = createServer({ logger, health: createHealth({}) });
    for (const { metadata, spec } of serviceDeployments(folder)) {
      const { startupProbe, livenessProbe, readinessProbe, ports, env } = containerOf(spec);
      for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe])
        expect(server.hasRoute({ method: 'GET', url: httpGet.path }), httpGet.path).toBe(true);
      expect([startupProbe, livenessProbe].map(({ httpGet }) => httpGet.path)).toEqual([
        '/health/live',
        '/health/live',
      ]);
      expect(readinessProbe.httpGet.path).toBe('/health/ready');
      const variable = env?.some(({ name }) => name === 'HEALTH_PORT') ? 'HEALTH_PORT' : 'PORT';
      const port = ports?.find(({ name }) => name === readinessProbe.httpGet.port)?.containerPort;
      expect(environmentOf(containerOf(spec), at(folder))[variable], metadata.name).toBe(String(port));
    }
  });

  it('gives a pod the time to be forgotten, to drain and to send its last telemetry', () => {
    for (const { spec } of serviceDeployments(folder)) {
      const container = containerOf(spec);
      const drainMs = Number(environmentOf(container, at(folder)).DRAIN_TIMEOUT_MS);
      expect(drainMs).toBeGreaterThan(edgeLimits['gateway-orders'].callTimeoutMs);
      const neededMs = container.lifecycle.preStop.sleep.seconds * 1_000 + drainMs + TELEMETRY_SHUTDOWN_MS;
      expect(spec.template.spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(neededMs);
    }
  });

  it('replaces pods one after the other without one missing, and lets a node be emptied', () => {
    const budgets = ofKind<{ readonly selector: Selector }>(at(folder), 'PodDisruptionBudget');
    for (const { metadata, spec } of deployments(folder)) {
      expect(spec.strategy.rollingUpdate.maxUnavailable, metadata.name).toBe(0);
      const covering = budgets.filter((budget) => selects(budget.spec.selector, spec.template.metadata.labels));
      expect(covering.length, metadata.name).toBe(spec.template.metadata.labels.track === 'canary' ? 0 : 1);
    }
  });

  it('has one scaler at most for a Deployment, which then states no number of pods', () => {
    const targets = [...ofKind(at(folder), 'HorizontalPodAutoscaler'), ...ofKind(at(folder), 'ScaledObject')].map(
      ({ spec }) => (spec as { scaleTargetRef: { name: string } }).scaleTargetRef.name,
    );
    expect(new Set(targets).size).toBe(targets.length);
    expect(targets).toEqual(folder === ONE_POD_EACH ? [] : expect.arrayContaining(['gateway', 'orders']));
    for (const { metadata, spec } of deployments(folder))
      expect(spec.replicas === undefined, metadata.name).toBe(targets.includes(metadata.name));
  });

  it('scales by the queue and the gauge that there are', () => {
    const triggers = ofKind<{ triggers: { type: string; metadata: Record<string, string> }[] }>(
      at(folder),
      'ScaledObject',
    )
      .flatMap(({ spec }) => spec.triggers)
      .filter(({ type }) => type !== 'cpu');
    for (const { type, metadata } of triggers) {
      if (type === 'rabbitmq') expect(metadata.queueName).toBe(ORDER_CONFIRMED_QUEUE);
      else expect(metadata.query).toContain('shop_outbox_pending');
    }
  });

  it('shows clients the public paths, by the gateway alone, and a canary to 1 to 5 of 100', () => {
    const [route] = ofKind<{ rules: Rule[] }>(at(folder), 'HTTPRoute');
    for (const { matches, backendRefs } of route?.spec.rules ?? []) {
      expect(matches.map(({ path }) => path.value)).toEqual(['/api/orders', '/api/v2/orders']);
      expect(backendRefs.map(({ name }) => name).filter((name) => !/^gateway(-canary)?$/.test(name))).toEqual([]);
      const share = backendRefs.find(({ name }) => name === 'gateway-canary')?.weight;
      if (share === undefined || matches.some(({ headers }) => headers !== undefined)) continue;
      expect(share).toBeGreaterThanOrEqual(1);
      expect(share).toBeLessThanOrEqual(5);
      expect(backendRefs.reduce((sum, { weight }) => sum + weight, 0)).toBe(100);
    }
  });

  it('holds no secret, and says where each one that is asked for comes from', () => {
    expect(ofKind(at(folder), 'Secret')).toEqual([]);
    const given = new Set(ofKind(at(folder), 'ExternalSecret').map(({ metadata }) => metadata.name));
    const asked = deployments(folder).flatMap(({ spec }) =>
      (containerOf(spec).env ?? []).flatMap(({ valueFrom }) => valueFrom?.secretKeyRef?.name ?? []),
    );
    if (given.size > 0) expect([...new Set(asked)].toSorted()).toEqual([...given].toSorted());
  });

  it('runs no container as root, with a writable root, or with a right more than it needs', () => {
    const workloads = [...deployments(folder), ...ofKind<Workload>(at(folder), 'StatefulSet')];
    for (const { metadata, spec } of workloads) expectRestricted(metadata.name, spec.template);
  });
});

it.skipIf(cannotRender !== undefined)(`deploy/${ONE_POD_EACH} has one pod of each`, () => {
  const folder = ONE_POD_EACH;
  for (const { metadata, spec } of [...deployments(folder), ...ofKind<Workload>(at(folder), 'StatefulSet')])
    expect(spec.replicas, metadata.name).toBe(1);
});

describe.skipIf(cannotRender !== undefined).each(migrations)('deploy/%s', (folder) => {
  it("has one Job for each database, with the migrations' image and the owner's account", () => {
    const jobs = ofKind<{ template: PodTemplate }>(at(folder), 'Job');
    const found = jobs.map(({ spec }) => {
      const { image, args, env } = containerOf(spec);
      const [, name] = /shop\/([a-z]+)(?::|$)/.exec(image) ?? [];
      return [name, args?.join(' '), env?.map(({ valueFrom }) => valueFrom?.secretKeyRef?.name).join(' ')];
    });
    expect(found.toSorted()).toEqual(
      databaseNames.map((name) => ['migrations', name, `${name}-database-owner`]).toSorted(),
    );
    for (const { metadata, spec } of jobs) expectRestricted(metadata.name, spec.template);
  });

  it('has its accounts before its Jobs also where Argo CD applies it, in whose hooks nothing else is there yet', () => {
    const waveOf = ({ metadata }: Manifest) => {
      expect(metadata.annotations?.['argocd.argoproj.io/hook'], metadata.name).toBe('PreSync');
      return Number(metadata.annotations?.['argocd.argoproj.io/sync-wave'] ?? 0);
    };
    const jobs = ofKind(at(folder), 'Job').map(waveOf);
    for (const wave of ofKind(at(folder), 'ExternalSecret').map(waveOf)) expect(wave).toBeLessThan(Math.min(...jobs));
  });

  it('lets migrations out to the databases, and nowhere else', () => {
    const [system = ''] = systems.filter((one) => folder === `${one}/migrations`);
    const jobs = ofKind<{ template: PodTemplate }>(at(folder), 'Job');
    for (const { spec } of jobs)
      expect(new Set(reachable(system, { labels: spec.template.metadata.labels, ports: [] }))).toEqual(
        new Set(['names', 'postgres']),
      );
  });
});

interface Rule {
  readonly matches: readonly { readonly path: { readonly value: string }; readonly headers?: unknown }[];
  readonly backendRefs: readonly { readonly name: string; readonly weight: number }[];
}

/** What a pod may reach that is not a service: ways out of the namespace, and data in it. */
function reachable(folder: string, pod: Pod): readonly string[] {
  const outside = waysOut(at(folder), pod).map((way) => {
    if (/:53$/.test(way)) return 'names';
    if (/:5432$/.test(way)) return 'postgres';
    return /:567[12]$/.test(way) ? 'rabbitmq' : way;
  });
  const inside = ofKind<Workload>(at(folder), 'StatefulSet')
    .filter(({ spec }) =>
      (podOf(spec).ports ?? []).some(({ containerPort }) => mayConnect(at(folder), pod, podOf(spec), containerPort)),
    )
    .map(({ spec }) => nameOf(spec));
  return [...outside, ...inside];
}

/** The rules of the Pod Security Standard "restricted", and a root file system that cannot be written. */
function expectRestricted(name: string, { spec }: PodTemplate): void {
  expect(spec.automountServiceAccountToken, name).toBe(false);
  expect(spec.enableServiceLinks, name).toBe(false);
  expect(spec.securityContext, name).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
  for (const { securityContext, resources } of spec.containers) {
    expect(securityContext, name).toMatchObject({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(Object.keys(resources.requests).toSorted(), name).toEqual(['cpu', 'ephemeral-storage', 'memory']);
    expect(resources.limits.memory, name).toBe(resources.requests.memory);
  }
}
