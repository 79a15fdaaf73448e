import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { countOf, failpointFolder } from '../../platform/failpoint-files.ts';
import { logEnd, logFiles } from '../../platform/log-reader.ts';
import { serviceNames } from '../../topology/services.ts';
import type { Probe, ResolvedExperiment, Step } from '../format/schema.ts';
import { COUNTERS, readFresh, snapshot } from './counters.ts';
import type { Baseline, RunContext, RunPlatform } from './run-context.ts';

/** Everything that later steps may compare with. Parts that cannot be read are undefined, never 0. */
export async function captureBaseline(context: Omit<RunContext, 'baselines'>): Promise<Baseline> {
  const { platform, clock, signal, experiment } = context;
  const names = [...COUNTERS, ...comparedMetrics(experiment)];
  const time = clock.date().getTime();
  const [logs, reading, instances] = await Promise.all([
    readLogEnds(platform),
    // What was counted until now must be in the reports that are compared with.
    readFresh(platform.telemetry, names, { clock, signal }).catch(() => undefined),
    // A supervisor that does not respond in time must not cost the whole baseline.
    readInstances(platform).catch(() => ({ restarts: undefined, rss: undefined })),
  ]);
  signal.throwIfAborted();
  return { time, counters: reading && snapshot(reading.points), ...instances, logs, hits: readHits(platform) };
}

/** By position and not by time: a service's clock may be what an experiment shifts. */
async function readLogEnds({ project: { logDir } }: RunPlatform): Promise<Baseline['logs']> {
  const names = await logFiles(logDir, serviceNames);
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await logEnd(logDir, name)] as const)));
}

async function readInstances({ connection }: RunPlatform): Promise<Pick<Baseline, 'restarts' | 'rss'>> {
  const { instances } = await connection.control.state();
  return {
    restarts: Object.fromEntries(instances.map(({ name, restarts }) => [name, restarts])),
    rss: Object.fromEntries(
      instances.flatMap(({ name, rssBytes }) => (rssBytes === undefined ? [] : [[name, rssBytes] as const])),
    ),
  };
}

/** Hits of every failpoint; undefined when no service runs with failpoints. */
export function readHits({ project }: Pick<RunPlatform, 'project'>): Readonly<Record<string, number>> | undefined {
  const folder = failpointFolder(project);
  const hits = join(folder, 'hits');
  if (!existsSync(hits)) return undefined;
  return Object.fromEntries(readdirSync(hits).map((name) => [name, countOf(folder, 'hits', name)]));
}

/** Steps to whose end others refer. */
export function referredTo(experiment: ResolvedExperiment): ReadonlySet<string> {
  return new Set(stepsOf(experiment).flatMap((step) => (step.type === 'probe' ? sinceOf(step) : [])));
}

function sinceOf({ provider }: Probe): string[] {
  return 'since' in provider && provider.since !== undefined ? [provider.since] : [];
}

/** Metrics of which a probe asks what they gained. Gauges without a comparison would delay every baseline. */
function comparedMetrics(experiment: ResolvedExperiment): string[] {
  return stepsOf(experiment).flatMap((step) => {
    if (step.type !== 'probe' || step.provider.type !== 'metric') return [];
    return step.provider.since === undefined ? [] : step.provider.name;
  });
}

function stepsOf(experiment: ResolvedExperiment): readonly Step[] {
  return [...experiment['steady-state-hypothesis'].probes, ...experiment.method, ...experiment.recovery];
}
