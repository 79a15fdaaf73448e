import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ComponentContext } from '../component.ts';
import { writePrivateFile } from '../private-file.ts';
import type { EngineUrl } from './engine.ts';

/** Where a project has containers or volumes. Kept in its state directory; holds no secret. */
export interface DockerRecord {
  /** Value of CONTAINER_LABEL. */
  readonly key: string;
  /** More than one when DOCKER_HOST was another at some `up`. */
  readonly engines: readonly EngineUrl[];
}

/** Two clones may have projects of the same name; their state directories differ. */
export function projectKey({ project, stateDir }: Pick<ComponentContext, 'project' | 'stateDir'>): string {
  return `${project}-${createHash('sha256').update(stateDir).digest('hex').slice(0, 8)}`;
}

export function recordFile(stateDir: string): string {
  return join(stateDir, 'docker.json');
}

/** What was recorded; undefined for a project that never had a container. */
export async function readRecord(stateDir: string): Promise<DockerRecord | undefined> {
  const file = recordFile(stateDir);
  const content = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  return content === undefined ? undefined : (JSON.parse(content) as DockerRecord);
}

/**
 * Records the engine before anything is created there, so that whoever cleans up later finds it, without DOCKER_HOST
 * and after a crash too. Components start at the same time: one writes after the other.
 */
export function recordEngine(context: Pick<ComponentContext, 'project' | 'stateDir'>, url: EngineUrl): Promise<void> {
  const written = writing.then(() => addEngine(context, url));
  // The next one writes whether this one succeeded or not; its failure is told to whoever asked for it.
  writing = written.catch(() => undefined);
  return written;
}

let writing: Promise<void> = Promise.resolve();

async function addEngine(context: Pick<ComponentContext, 'project' | 'stateDir'>, url: EngineUrl): Promise<void> {
  const before = await readRecord(context.stateDir);
  if (before?.engines.includes(url)) return;
  const record: DockerRecord = { key: projectKey(context), engines: [...(before?.engines ?? []), url] };
  await writePrivateFile(recordFile(context.stateDir), `${JSON.stringify(record)}\n`);
}
