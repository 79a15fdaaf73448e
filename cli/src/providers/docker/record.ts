import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { unless } from '../../shared/unless.ts';
import type { ComponentContext } from '../component.ts';
import { writePrivateFile } from '../private-file.ts';
import type { EngineUrl } from './engine.ts';

/** Where a project has containers or volumes. Kept in its state directory; holds no secret. */
export interface DockerRecord {
  /** Value of CONTAINER_LABEL. */
  readonly key: string;
  /** More than one when DOCKER_HOST was another at some `up`. */
  readonly engines: readonly EngineUrl[];
  /** Volumes whose server has served: what they hold is whole. */
  readonly initialised: readonly string[];
}

type Owner = Pick<ComponentContext, 'project' | 'stateDir'>;

/** Two clones may have projects of the same name; their state directories differ. */
export function projectKey({ project, stateDir }: Owner): string {
  return `${project}-${createHash('sha256').update(stateDir).digest('hex').slice(0, 8)}`;
}

export function recordFile(stateDir: string): string {
  return join(stateDir, 'docker.json');
}

/** What was recorded; undefined for a project that never had a container. */
export async function readRecord(stateDir: string): Promise<DockerRecord | undefined> {
  const file = recordFile(stateDir);
  const content = await readFile(file, 'utf8').catch(unless('ENOENT'));
  return content === undefined ? undefined : (JSON.parse(content) as DockerRecord);
}

/**
 * Records the engine before anything is created there, so that a later clean-up finds it, without DOCKER_HOST and after
 * a crash too.
 */
export function recordEngine(owner: Owner, url: EngineUrl): Promise<void> {
  return change(owner, (record) => ({ ...record, engines: [...new Set([...record.engines, url])] }));
}

/** Records that the volume's server has served. */
export function recordInitialised(owner: Owner, volume: string): Promise<void> {
  return change(owner, (record) => ({ ...record, initialised: [...new Set([...record.initialised, volume])] }));
}

let writing: Promise<void> = Promise.resolve();

/** Components start at the same time: one writes after the other. */
function change(owner: Owner, by: (record: DockerRecord) => DockerRecord): Promise<void> {
  const written = writing.then(async () => {
    const before = await readRecord(owner.stateDir);
    const after = by(before ?? { key: projectKey(owner), engines: [], initialised: [] });
    if (JSON.stringify(after) !== JSON.stringify(before))
      await writePrivateFile(recordFile(owner.stateDir), `${JSON.stringify(after)}\n`);
  });
  // The next one writes whether this one succeeded or not; its failure is reported to its caller.
  writing = written.catch(() => undefined);
  return written;
}
