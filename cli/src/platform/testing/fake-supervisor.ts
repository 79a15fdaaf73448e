// Entry of a supervisor whose services are small scripts: SHOPCTL_FAKE names them with their environment as JSON.
// SHOPCTL_FAKE_FAULTS=stuck: its faults cannot be ended. SHOPCTL_FAKE_END=SIGTERM: it is sent that as soon as its socket is there.
// SHOPCTL_FAKE_KILL_AT: the step of an operation, counted from 1, before which it is killed.
// SHOPCTL_FAKE_ROUND_MS: between two replicas that are replaced. SHOPCTL_FAKE_ANNOUNCE_MS: until callers have read a change.

import { subscribe } from 'node:diagnostics_channel';
import { existsSync } from 'node:fs';
import type { Server } from 'node:net';
import { join } from 'node:path';
import { CliError } from '../../errors.ts';
import { spawnProcess } from '../../process/spawn.ts';
import { probeHealth } from '../health-probe.ts';
import { defaultLimits } from '../instance.ts';
import type { PlanRequest } from '../plan.ts';
import { cloneRoot, openProject } from '../project.ts';
import { runSupervisor } from '../run-supervisor.ts';
import type { ServiceSource } from '../service-runtime.ts';
import { createSharedPorts } from '../shared-port.ts';
import type { Unit } from '../unit.ts';

interface FakeService {
  readonly dependsOn?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The service of which it is a replica; default: one of its name. */
  readonly service?: string;
  /** Planned only when replicas are asked for. */
  readonly isSpare?: boolean;
  /** Nothing needs it: planned when alerts are asked for, whatever else is. */
  readonly isExtra?: boolean;
  /** Added to its environment once `up --direct` was asked: its other configuration. */
  readonly envWhenDirect?: Readonly<Record<string, string>>;
  /** What its refresh resolves with; `refused: ...` is thrown. */
  readonly changes?: readonly string[];
  /** Its successor runs beside it, on another port. */
  readonly beside?: boolean;
  /** It takes messages from a queue. */
  readonly consumes?: boolean;
  /** A file, while which is there its code is too old for its database. */
  readonly tooOldWhile?: string;
  /** Stopping it fails, and it goes on. */
  readonly cannotStop?: boolean;
}

const [projectName = 'fake'] = process.argv.slice(2);
const project = openProject(projectName, cloneRoot(), process.env);
const services = JSON.parse(process.env.SHOPCTL_FAKE ?? '{}') as Record<string, FakeService>;

if (process.env.SHOPCTL_FAKE_END !== undefined) {
  subscribe('tracing:net.server.listen:asyncEnd', (message) => {
    const { server } = message as { server: Server };
    if (server.address() === project.socketPath) process.kill(process.pid, process.env.SHOPCTL_FAKE_END);
  });
}

await runSupervisor({
  project,
  limits: {
    ...defaultLimits,
    firstBackoffMs: 20,
    maxFailedStarts: 3,
    readyProbeMs: 50,
    betweenRoundsMs: Number(process.env.SHOPCTL_FAKE_ROUND_MS ?? 50),
    announceMs: Number(process.env.SHOPCTL_FAKE_ANNOUNCE_MS ?? 50),
  },
  idleExitMs: 2000,
  ...(process.env.SHOPCTL_FAKE_FAULTS === 'stuck' && {
    openExtension: async () => ({
      handle: async () => false,
      activeFaults: () => [],
      end: () => Promise.reject(new Error('no space left on device')),
    }),
  }),
  ...(process.env.SHOPCTL_FAKE_KILL_AT !== undefined && {
    openExtension: async ({ events }) => {
      let steps = 0;
      events.follow(({ type }) => {
        if (/^(scale|drain|reroute)\./.test(type) && ++steps === Number(process.env.SHOPCTL_FAKE_KILL_AT))
          process.kill(process.pid, 'SIGKILL');
      });
      return { handle: async () => false, activeFaults: () => [], end: async () => {} };
    },
  }),
  async createPlanner({ ports, registry }) {
    const names = Object.keys(services);
    const sharedPorts = createSharedPorts('127.0.0.1');
    const unitOf = async (name: string, isDirect: boolean): Promise<Unit> => {
      const {
        dependsOn = [],
        cannotStop = false,
        service = name,
        isExtra = false,
        changes,
        ...own
      } = services[name] as FakeService;
      const env = { ...own.env, ...(isDirect && own.envWhenDirect) };
      const main = await ports.reserve(name);
      const replica = own.beside
        ? sharedPorts.replica({
            instance: name,
            port: main,
            own: [await ports.reserve(`${name}:health`), await ports.reserve(`${name}:spare`)],
            ownVariable: 'INSTANCE_PORT',
            withoutProcess: 'refused',
          })
        : undefined;
      let pid: number | undefined;
      const logFile = join(project.logDir, `${name}.log`);
      return {
        name,
        service,
        kind: 'service',
        dependsOn,
        waitsFor: dependsOn,
        get ports() {
          return replica?.ports() ?? { main };
        },
        logFile,
        isExtra,
        fingerprint: String(isDirect),
        ...(replica && { beside: 'process', leave: replica.leave }),
        async start(conditions) {
          const source: ServiceSource = {
            version: '1',
            start: (instance) =>
              spawnProcess({
                command: process.execPath,
                args: [join(project.root, 'cli/src/platform/testing/fake-service.cjs')],
                env: {
                  PORT: instance.env.INSTANCE_PORT ?? String(main),
                  SHOPCTL_MARK: registry.mark,
                  SHOPCTL_GUARD: process.env.SHOPCTL_GUARD ?? '',
                  ...env,
                },
                cwd: project.stateDir,
                logFile,
                exitsWithParent: true,
                stopSignal: 'SIGTERM',
                stopTimeoutMs: 500,
                onStart(identity, stopSignal) {
                  pid = identity.pid;
                  registry.started(identity, stopSignal);
                },
                onEnd: registry.ended,
              }),
          };
          const planned = { name, env: {}, logFile };
          const running = await (replica
            ? replica.start(source, planned, conditions)
            : source.start(planned, conditions));
          return cannotStop ? { ...running, stop: () => Promise.reject(new Error('it does not listen')) } : running;
        },
        ...(changes && {
          async refresh() {
            const refused = changes.find((change) => change.startsWith('refused: '));
            if (refused !== undefined) throw new Error(refused);
            return changes;
          },
        }),
        async probe(signal) {
          await probeHealth(replica?.ports().health ?? main, pid, signal);
        },
      };
    };
    const serviceOf = (name: string) => services[name]?.service ?? name;
    /** `base-1` to `base-N` of a service of which N were asked for. */
    const planned = ({ services: asked, replicas, alerts = false }: PlanRequest) =>
      names.filter((name) => {
        if (services[name]?.isExtra) return alerts;
        const service = serviceOf(name);
        const most = services[name]?.isSpare ? 1 : Infinity;
        const isAsked = asked.length === 0 || asked.includes(service);
        return isAsked && Number(name.split('-')[1] ?? 1) <= (replicas[service] ?? most);
      });
    /** From each service, of those that are planned or run, to all planned replicas of those that it depends on. */
    const routes = (all: readonly string[], running: readonly string[]) =>
      Promise.all([
        ...all
          .filter((name) => services[name]?.consumes)
          .map(async (instance) => {
            const address = `127.0.0.1:${await ports.reserve(instance)}`;
            const edge = `broker-${serviceOf(instance)}`;
            return { edge, instance, primary: address, standby: address, isDelivery: true as const };
          }),
        ...names
          .filter((from) => all.includes(from) || running.includes(serviceOf(from)))
          .flatMap((from) =>
            all
              .filter((to) => services[from]?.dependsOn?.includes(serviceOf(to)))
              .map(async (instance) => {
                const port = await ports.reserve(instance);
                return {
                  edge: `${serviceOf(from)}-${serviceOf(instance)}`,
                  instance,
                  primary: `127.0.0.1:${port}`,
                  standby: `127.0.0.2:${port}`,
                };
              }),
          ),
      ]);
    return {
      serviceNames: [...new Set(names.map(serviceOf))],
      async admit(starting) {
        for (const name of starting) {
          const tooOld = names.find((one) => serviceOf(one) === name && existsSync(services[one]?.tooOldWhile ?? ''));
          if (tooOld !== undefined) throw new CliError({ code: 'release_too_old', what: `${name} is too old` });
        }
      },
      plan: async (request) => ({
        units: await Promise.all(planned(request).map((name) => unitOf(name, request.direct))),
        edges: [],
        routes: await routes(planned(request), request.running),
        gatewayUrl: '',
        telemetryUrl: '',
        direct: request.direct,
        runtime: 'process',
        instrumentation: 'manual',
        alerts: request.alerts ?? false,
        warnings: [],
      }),
      ports: () => ports.all(),
      close: async () => {},
    };
  },
});
process.exit(0);
