/**
 * One PostgreSQL cluster and one RabbitMQ per test run, started when the first test asks for one and ended with the run.
 * Tests run in other processes: they ask over a Unix socket in a folder that only this user can enter.
 */
import { mkdir, mkdtemp, readdir } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { createPortAllocator } from '../../cli/src/platform/ports.ts';
import { cloneRoot, openProject } from '../../cli/src/platform/project.ts';
import type { ComponentContext, Launch } from '../../cli/src/providers/component.ts';
import { installComponent, purgeComponents, resolveComponent } from '../../cli/src/providers/resolve.ts';
import { createSecrets } from '../../cli/src/providers/secrets.ts';
import type { ComponentName } from '../../cli/src/topology/components.ts';
import { createVirtualHost } from './broker.ts';
import { type RunningComponent, startComponent } from './component.ts';
import { guardMark, startGuard } from './guard.ts';
import { keptTemporary } from './kept-temporary.ts';
import { copyDatabase, isDatabaseName } from './postgres.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of the socket on which this run's infrastructure is asked for. */
    testInfrastructure: string;
    /** Folder in which each test file has one for its temporary files. */
    testTemporary: string;
  }
}

interface Started {
  readonly launch: Launch;
  readonly running: RunningComponent;
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), 'shop-test-'));
  const context = await createContext(folder);
  // An interruption of a run ends this process before it can remove anything.
  const removal = join(import.meta.dirname, 'remove-cluster.ts');
  const guard = startGuard(folder, [process.execPath, removal, context.stateDir]);
  const started = new Map<ComponentName, Promise<Started>>();

  function component(name: ComponentName): Promise<Started> {
    const already = started.get(name);
    if (already !== undefined) return already;
    const starting = start(name);
    started.set(name, starting);
    return starting;
  }

  async function start(name: ComponentName): Promise<Started> {
    // Does nothing where the component is there; the first run of a fresh clone gets it as `shopctl setup` does.
    await installComponent(name, context, (message) => console.error(`${name}: ${message}`));
    const launch = await resolveComponent(name, context);
    return { launch, running: await startComponent(launch, context.logFile(name), guardMark(folder)) };
  }

  async function create(path: string): Promise<object> {
    const [kind, name = ''] = path.slice(1).split('/');
    if (kind === 'broker') return createVirtualHost((await component('rabbitmq')).launch, context);
    if (kind !== 'database' || !isDatabaseName(name)) throw new Error(`there is no ${path}`);
    return copyDatabase(name, (await component('postgres')).launch, context);
  }

  const socket = join(folder, 'infrastructure.sock');
  const server = await listen(socket, create);
  project.provide('testInfrastructure', socket);
  const temporary = join(folder, 'tmp');
  await mkdir(temporary);
  project.provide('testTemporary', temporary);

  return async () => {
    server.close();
    server.closeAllConnections();
    const all = await Promise.allSettled(started.values());
    // One that failed to start has been stopped by its starter, and its test has failed.
    await Promise.all(all.map((one) => (one.status === 'fulfilled' ? one.value.running.stop() : undefined)));
    await purgeComponents(context);
    const left = await leftIn(temporary);
    await guard[Symbol.asyncDispose]();
    if (left.length > 0) throw new Error(`written after the tests that should have ended it: ${left.join(', ')}`);
  };
}

async function createContext(folder: string): Promise<ComponentContext> {
  const root = cloneRoot();
  const ports = createPortAllocator({});
  // Servers of another user are not for tests.
  const { SHOPCTL_POSTGRES_URL: _postgres, SHOPCTL_RABBITMQ_URL: _rabbitmq, ...env } = process.env;
  const stateDir = join(folder, 'state');
  await mkdir(stateDir, { mode: 0o700 });
  return {
    project: `shop-test-${process.pid}`,
    stateDir,
    cacheDir: openProject('shop', root, env).cacheDir,
    migrationsDir: join(root, 'migrations'),
    logFile: (name) => join(folder, `${name}.log`),
    ports: {
      reserve: (name, count = 1) =>
        Promise.all(Array.from({ length: count }, (_, index) => ports.reserve(`${name}-${index}`))),
    },
    secrets: createSecrets(),
    env,
  };
}

/**
 * Each file has removed its folder, or has used none where all of it was skipped: a process that goes on after its test has made one
 * again.
 */
async function leftIn(temporary: string): Promise<readonly string[]> {
  const folders = await readdir(temporary);
  const names = await Promise.all(folders.map((folder) => readdir(join(temporary, folder))));
  return names.flat().filter((name) => !keptTemporary.includes(name));
}

function listen(socket: string, create: (path: string) => Promise<object>): Promise<Server> {
  async function handle(request: IncomingMessage, response: ServerResponse) {
    try {
      response.end(JSON.stringify(await create(request.url ?? '')));
    } catch (error) {
      response.writeHead(500).end(String(error instanceof Error ? error.stack : error));
    }
  }
  const server = createServer((request, response) => void handle(request, response));
  return new Promise((resolve, reject) => server.once('error', reject).listen(socket, () => resolve(server)));
}
