import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { appendWhole, readLines } from '../platform/line-file.ts';
import type { Project } from '../platform/project.ts';
import type { Rollout } from './analysis/evaluate.ts';
import type { Evidence } from './analysis/evidence.ts';
import type { GuardReading } from './analysis/guards.ts';
import type { DeployRun } from './run.ts';

/** What was seen of a canary in one look, about once a second: one line of its file. */
export interface Sample {
  /** ms since 1970. */
  readonly at: number;
  /** The canary's share of the calls then, from 0 to 1. What was drawn with another one may be in the evidence. */
  readonly share: number;
  /** Outcomes since the sample before. */
  readonly evidence: readonly Evidence[];
  /** Readings with another state than before; with another detail about every 10 s. */
  readonly guards: readonly GuardReading[];
  /** Why the outcomes are not all of them; empty where they are. */
  readonly missing: readonly string[];
  /** The evidence after it, as logarithms. A report shows them; a verdict does not need them. */
  readonly tests: { readonly errors: number; readonly slow: number; readonly promotion: number };
  /** Responses were slow above it, in s: the limit follows the stable arm. Absent while nothing counts as slow. */
  readonly slowAboveS?: number;
}

/** The samples of canaries, on disk before they have consequences. */
export interface SampleFiles {
  append(run: string, sample: Sample): Promise<void>;
  /** The oldest first. */
  read(run: string): Promise<readonly Sample[]>;
}

/** A canary of ten minutes has about 300 kB. */
const KEPT_FILES = 50;

/** Samples are many and of one run each: in `deploys.jsonl` they would displace the deploys of before. */
export function samplesFolder({ stateDir }: Pick<Project, 'stateDir'>): string {
  return join(stateDir, 'deploys');
}

export function createSampleFiles(
  project: Pick<Project, 'stateDir'>,
  report: (problem: string) => void,
  { keptFiles = KEPT_FILES } = {},
): SampleFiles {
  const folder = samplesFolder(project);
  const fileOf = (run: string) => join(folder, `${run}.jsonl`);
  const made = new Set<string>();

  /** The files of the oldest runs make room. */
  async function prepare(run: string): Promise<void> {
    if (made.has(run)) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    made.add(run);
    await removeOldest(folder, keptFiles - 1, `${run}.jsonl`);
  }

  return {
    async append(run, sample) {
      await prepare(run);
      await appendWhole(fileOf(run), `${JSON.stringify(sample)}\n`);
    },
    async read(run) {
      const { values, unreadable } = await readLines(fileOf(run), isSample);
      for (const place of unreadable) report(`${place} is not a sample of a canary`);
      return values;
    },
  };
}

async function removeOldest(folder: string, kept: number, except: string): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name !== except);
  const dated = await Promise.all(
    names.map(async (name) => ({ name, time: (await stat(join(folder, name))).mtimeMs })),
  );
  const old = dated.toSorted((a, b) => b.time - a.time).slice(kept);
  await Promise.all(old.map(({ name }) => rm(join(folder, name))));
}

function isSample({ at, evidence }: Sample): boolean {
  return typeof at === 'number' && Array.isArray(evidence);
}

/**
 * What a verdict at the time `at` is based on: the run's plan, its steps, and its samples until then. `evaluate` of it is
 * the verdict that the journal has. Throws RangeError for a run of another strategy. Pure.
 */
export function rolloutAt(run: DeployRun, samples: readonly Sample[], at: number): Rollout {
  if (run.canary === undefined) throw new RangeError(`the deploy ${run.id} has no canary`);
  const known = samples.filter((sample) => sample.at <= at);
  const begun = (run.weights ?? []).filter(({ reason, time }) => reason === 'step' && Date.parse(time) <= at);
  return {
    plan: run.canary.plan,
    stepsBegan: begun.map(({ time }) => Date.parse(time)),
    evidence: known.flatMap(({ evidence }) => evidence),
    guards: known.flatMap(({ guards }) => guards),
    readAt: known.findLast(({ missing }) => missing.length === 0)?.at,
    pausedMs: pausedUntil(run, at),
  };
}

/** ms of pauses up to then: they do not count for the limit. */
function pausedUntil({ pauses = [] }: DeployRun, at: number): number {
  return pauses.reduce((sum, { from, to }) => {
    const end = Math.min(at, to === undefined ? at : Date.parse(to));
    return sum + Math.max(0, end - Date.parse(from));
  }, 0);
}
