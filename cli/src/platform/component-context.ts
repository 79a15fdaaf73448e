import { join } from 'node:path';
import type { ComponentContext } from '../providers/component.ts';
import type { SchemaGate } from '../providers/schema/schema-gate.ts';
import { createSecrets, type Secrets } from '../providers/secrets.ts';
import { createPortAllocator, type PortAllocator } from './ports.ts';
import type { Project } from './project.ts';

export interface ComponentContextOptions {
  readonly project: Project;
  readonly ports: PortAllocator;
  readonly secrets: Secrets;
  readonly env: NodeJS.ProcessEnv;
  /** Where a supervisor listens; absent where nothing is run. */
  readonly telemetryUrl?: string;
  readonly schemaGate?: SchemaGate;
}

/** What providers are given for a project. */
export function componentContext({
  project,
  ports,
  secrets,
  env,
  telemetryUrl,
  schemaGate,
}: ComponentContextOptions): ComponentContext {
  return {
    root: project.root,
    project: project.name,
    stateDir: project.stateDir,
    cacheDir: project.cacheDir,
    migrationsDir: join(project.root, 'migrations'),
    logFile: (name) => join(project.logDir, `${name}.log`),
    ...(telemetryUrl !== undefined && { telemetryUrl }),
    ...(schemaGate && { schemaGate }),
    ports: { reserve: (name, count = 1) => reserveMany(ports, name, count) },
    secrets,
    env,
  };
}

/** For `doctor`, `setup` and purging, which look and install but run nothing: no secret and no port is kept. */
export function inspectionContext(project: Project, env: NodeJS.ProcessEnv): ComponentContext {
  return componentContext({ project, ports: createPortAllocator({}), secrets: createSecrets(), env });
}

async function reserveMany(ports: PortAllocator, name: string, count: number): Promise<readonly number[]> {
  const reserved: number[] = [];
  for (let index = 0; index < count; index++) {
    reserved.push(await ports.reserve(index === 0 ? name : `${name}:${index}`));
  }
  return reserved;
}
