import type Docker from 'dockerode';
import { removeContainer, stopContainer } from './container-run.ts';
import { type EngineUrl, openEngine, pingEngine } from './engine.ts';
import { CONTAINER_LABEL } from './labels.ts';
import { type DockerRecord, readRecord } from './record.ts';

/** What a killed supervisor left is asked to end this long, as its processes are. */
const STOP_LEFTOVER_MS = 2_000;

/**
 * Ends and removes the containers of a project without a supervisor; volumes stay. Resolves to their number. Costs one
 * read of a file for a project that never had a container.
 */
export async function endContainers(stateDir: string): Promise<number> {
  const record = await readRecord(stateDir);
  if (record === undefined) return 0;
  const counts = await Promise.all(
    record.engines.map(async (url) => {
      const problem = await pingEngine(url).catch((error: Error) => error);
      if (!problem) return removeAll(await openEngine(url), record);
      // An engine that does not run runs no containers; what it still knows of is removed at the next start.
      console.error(`containers of ${record.key} are not looked for: ${problem.message}`);
      return 0;
    }),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/**
 * Removes every container and volume of a project. Throws when an engine that has some does not respond: its volumes
 * would stay, and with them the project's data.
 */
export async function purgeContainers(stateDir: string): Promise<void> {
  const record = await readRecord(stateDir);
  if (record === undefined) return;
  await Promise.all(record.engines.map((url) => purgeEngine(url, record)));
}

async function purgeEngine(url: EngineUrl, record: DockerRecord): Promise<void> {
  try {
    await pingEngine(url);
  } catch (cause) {
    const volumes = `volumes labelled ${CONTAINER_LABEL}=${record.key}`;
    throw new Error(`${volumes} are still there: ${(cause as Error).message}; start it and try again`, { cause });
  }
  const engine = await openEngine(url);
  await removeAll(engine, record);
  const { Volumes } = await engine.listVolumes({ filters: filtersOf(record) });
  await Promise.all((Volumes ?? []).map(({ Name }) => engine.getVolume(Name).remove()));
}

/** By id: another run may use the same names already. */
async function removeAll(engine: Docker, record: DockerRecord): Promise<number> {
  const containers = await engine.listContainers({ all: true, filters: filtersOf(record) });
  await Promise.all(
    containers.map(async ({ Id }) => {
      await stopContainer(engine, Id, STOP_LEFTOVER_MS);
      await removeContainer(engine, Id);
    }),
  );
  return containers.length;
}

function filtersOf({ key }: DockerRecord) {
  return { label: [`${CONTAINER_LABEL}=${key}`] };
}
