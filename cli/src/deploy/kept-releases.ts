import { existsSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { overridesFile, readOverrides } from '../platform/overrides.ts';
import type { Project } from '../platform/project.ts';
import type { Release } from '../platform/release.ts';
import { unless } from '../shared/unless.ts';
import { createDeployJournal } from './journal.ts';
import { releasesOf } from './release-build.ts';
import { type DeployRun, isOver, runsIn } from './run.ts';

/** Releases of each service that can be rolled back to. */
const ROLLBACK_TARGETS = 5;
/** Builds that stay because they were used last: the next deploy of the same sources takes no time. */
const RECENT_BUILDS = 3;
/** Longer than a build: what is older was left by one that was killed. */
const DRAFT_LIMIT_MS = 900_000;

/** What can be rolled back to: releases that a deploy brought, or replaced, each version once, the last one first. Pure. */
export function rollbackTargets(runs: readonly DeployRun[], service: string): readonly Release[] {
  // A release that was rolled back never was the one of its service.
  const own = runs.filter((run) => run.service === service && (run.state === 'done' || !isOver(run.state)));
  const all = own.toReversed().flatMap(({ releases }) => (releases ? [releases.to, releases.from] : []));
  return all
    .filter(({ version }, index) => all.findIndex((other) => other.version === version) === index)
    .slice(0, ROLLBACK_TARGETS);
}

type Place = Pick<Project, 'root' | 'stateDir'>;

/** The same by the journal of a project, as far as it is still there. */
export async function keptReleases({ root, stateDir }: Place, service: string): Promise<readonly Release[]> {
  // Lines that cannot be read are reported when deploys begin.
  const records = await createDeployJournal({ stateDir }, () => undefined).read();
  return rollbackTargets(runsIn(records), service).filter(({ folder }) => existsSync(join(root, folder)));
}

/**
 * Removes builds of a service that no project of the clone runs or can roll back to, but for the last ones. Resolves with their
 * folders.
 */
export async function pruneReleases({ root, stateDir }: Place, service: string): Promise<readonly string[]> {
  const parent = releasesOf(service);
  const names = await namesIn(join(root, parent));
  const builds = await Promise.all(
    names.map(async (name) => ({ name, usedMs: await usedMs(join(root, parent, name)) })),
  );
  const needed = await foldersInUse({ root, stateDir }, service);
  const recent = new Set(
    builds
      .filter(({ name }) => !isDraft(name))
      .toSorted((a, b) => b.usedMs - a.usedMs)
      .slice(0, RECENT_BUILDS)
      .map(({ name }) => name),
  );
  const old = builds.filter(({ name, usedMs: at }) =>
    isDraft(name) ? at < Date.now() - DRAFT_LIMIT_MS : !recent.has(name) && !needed.has(join(parent, name)),
  );
  for (const { name } of old) await rm(join(root, parent, name), { recursive: true, force: true });
  return old.map(({ name }) => join(parent, name));
}

/** Of all projects beside this one: they share what the clone has built. */
async function foldersInUse({ root, stateDir }: Place, service: string): Promise<ReadonlySet<string>> {
  const projects = (await namesIn(dirname(stateDir))).map((name) => join(dirname(stateDir), name));
  const folders = await Promise.all(
    [stateDir, ...projects.filter((path) => basename(path) !== basename(stateDir))].map(async (path) => {
      const { releases } = await readOverrides(overridesFile({ stateDir: path }));
      const kept = await keptReleases({ root, stateDir: path }, service);
      return [releases[service], ...kept].flatMap((release) => release?.folder ?? []);
    }),
  );
  return new Set(folders.flat());
}

const isDraft = (name: string) => name.endsWith('.tmp');

/** A build that is used again is touched. */
async function usedMs(folder: string): Promise<number> {
  const record = ['release.json', 'image.json'].map((file) => join(folder, file)).find((file) => existsSync(file));
  const stats = await stat(record ?? folder).catch(unless('ENOENT', 'ENOTDIR'));
  return stats?.mtimeMs ?? 0;
}

async function namesIn(folder: string): Promise<readonly string[]> {
  return (await readdir(folder).catch(unless('ENOENT', 'ENOTDIR'))) ?? [];
}
