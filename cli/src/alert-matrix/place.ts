import { rm } from 'node:fs/promises';
import { createChaosClient } from '../chaos/chaos-client.ts';
import { FaultSession } from '../chaos/fault-session.ts';
import type { CommandDeps } from '../command-context.ts';
import { CliError, receivedError } from '../errors.ts';
import type { PlatformNeeds } from '../experiments/format/schema.ts';
import { startEphemeral } from '../experiments/run/ephemeral-platform.ts';
import type { MeasuringPlace } from '../experiments/run/run-on-platforms.ts';
import { switchAudit } from '../monitoring/audit-client.ts';
import type { Output } from '../output/output.ts';
import { untilAlertsArrive } from '../pager/alerts-arrive.ts';
import { createPagerClient } from '../pager/pager-client.ts';
import { createPagerReader } from '../pager/pager-reader.ts';
import { WATCHDOG } from '../pager/pipeline-watch.ts';
import { connectPlatform } from '../platform/connection.ts';
import { type ControlClient, createControlClient } from '../platform/control-client.ts';
import type { Project } from '../platform/project.ts';
import { prometheusFiles } from '../providers/prometheus/files.ts';
import { systemClock } from '../shared/clock.ts';
import { pollFor } from '../shared/wait-until.ts';
import { type ShopDatabases, withShopDatabases } from '../shop/databases.ts';
import { requirePrometheus } from '../shop/prometheus.ts';
import type { PairRecord } from './journal.ts';
import { measurePair, type PairPorts } from './measure-pair.ts';
import { startMixedLoad } from './mixed-load.ts';
import type { Pair } from './pair.ts';
import { readShipments } from './read-shipments.ts';

/** A platform on which pairs are measured, one after the other. */
export type Place = MeasuringPlace<Pair, PairRecord>;

export interface PlaceOptions {
  /** Whose matrix it is. */
  readonly project: Project;
  readonly number: number;
  readonly seed: number;
  readonly rate: number;
  readonly runId: string;
  readonly output: Output;
}

/** As the services of experiments start; nothing of it is asked for. */
const NEEDS: PlatformNeeds = { failpoints: false, replicas: {}, env: {}, 'seeded-bugs': [], alerts: true };
const START_LIMIT_MS = 60_000;
const POLL_MS = 250;

/** Starts an ephemeral platform with alerts, and has its recent orders audited. Throws CliError when it does not start. */
export async function openPlace(options: PlaceOptions, deps: CommandDeps): Promise<Place> {
  const { project, number, output } = options;
  const own = await startEphemeral(project, NEEDS, { ...deps, output }, number);
  try {
    await switchAudit(own.project, true);
    const connection = await connectPlatform(own.project);
    return {
      measure: (pair) =>
        withShopDatabases(connection, (databases) =>
          measurePair(pair, portsOf(own.project, { ...options, gatewayUrl: connection.gatewayUrl, databases, deps })),
        ),
      close: () => own.end(output),
    };
  } catch (error) {
    await own.end(output);
    throw error;
  }
}

interface Surroundings extends PlaceOptions {
  readonly gatewayUrl: string;
  readonly databases: ShopDatabases;
  readonly deps: CommandDeps;
}

function portsOf(own: Project, { gatewayUrl, databases, seed, rate, runId, output, deps }: Surroundings): PairPorts {
  const control = createControlClient(own);
  const clock = systemClock;
  const { signal } = deps;
  return {
    platform: own.name,
    clock,
    signal,
    emptyPrometheus: () => emptyPrometheus(own, control, signal),
    startLoad: () => startMixedLoad({ gatewayUrl, rate, seed, name: `${runId}-${clock.date().getTime()}`, clock }),
    pager: createPagerReader(own),
    faults: new FaultSession(
      createChaosClient(own),
      { onChange: () => undefined, onTrouble: (event, details) => output.note(`${event}: ${details}`) },
      clock,
    ),
    shippedAt: (orderIds) => readShipments(databases, orderIds),
    async scrapedShare(seconds) {
      const prometheus = requirePrometheus(await control.state());
      const samples = await prometheus.queryInstant(`sum(sum_over_time(up[${seconds}s]))`);
      return (samples[0]?.value ?? 0) / seconds;
    },
  };
}

/** Ends Prometheus, removes its samples, and resolves when another one evaluates alerts. */
async function emptyPrometheus(own: Project, control: ControlClient, signal: AbortSignal): Promise<void> {
  await up(control, false, signal);
  await rm(prometheusFiles(own.stateDir).data, { recursive: true, force: true });
  await up(control, true, signal);
  const prometheus = requirePrometheus(await control.state());
  const evaluates = async () =>
    (await prometheus.alerts()).some(({ name, state }) => name === WATCHDOG && state === 'firing') ? true : undefined;
  if ((await pollFor(evaluates, { limitMs: START_LIMIT_MS, everyMs: POLL_MS, signal })) === undefined) {
    throw new CliError({
      code: 'component_not_running',
      what: `Prometheus of ${own.name} has evaluated no alert in ${START_LIMIT_MS / 1_000} s`,
      next: 'see whether the machine is too busy: "shopctl doctor"',
    });
  }
  await untilAlertsArrive(createPagerClient(own), signal);
}

async function up(control: ControlClient, alerts: boolean, signal: AbortSignal): Promise<void> {
  const request = { services: [], replicas: {}, providers: {}, alerts, waitTimeoutMs: START_LIMIT_MS };
  for await (const response of control.up(request, signal)) {
    if (response.type === 'failed') throw receivedError(response.error);
  }
}
