/**
 * A whole platform for end-to-end tests, started and stopped through the built `shopctl` as its users do it. It has a
 * separate project and state folder, so that it disturbs no other. It is torn down also when the tests fail or are
 * killed.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { connectPlatform, type PlatformConnection } from '../../cli/src/platform/connection.ts';
import { armedFailpoints, disarmFailpoint, failpointFolder } from '../../cli/src/platform/failpoint-files.ts';
import { cloneRoot, openProject, type Project } from '../../cli/src/platform/project.ts';
import type { InstanceState, PlatformState } from '../../cli/src/platform/state.ts';
import type { DatabaseName } from '../../cli/src/topology/databases.ts';
import { serviceNames } from '../../cli/src/topology/services.ts';
import { createBackend, type TelemetryBackend } from '../../cli/src/trace/backend.ts';
import { startGuard } from './guard.ts';

export interface PlatformOptions {
  /** Lower-case letters, digits and dashes; the test file's own. */
  readonly project: string;
  /** More than one instance of a service, by its name. */
  readonly replicas?: Readonly<Record<string, number>>;
  /** Without Toxiproxy. */
  readonly direct?: boolean;
  /** Only these services, with what they depend on; all when none is named. */
  readonly services?: readonly string[];
  /** Added to the environment of `up`. */
  readonly env?: Readonly<Record<string, string>>;
}

/** How a run of `shopctl` ended. */
interface ShopctlResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** One line of a service's log. */
interface LogLine {
  readonly level: string;
  readonly service: string;
  readonly instance: string;
  readonly msg: string;
  readonly trace_id?: string;
  readonly flags?: readonly string[];
  readonly order_id?: string;
}

export interface TestPlatform {
  readonly project: Project;
  readonly gatewayUrl: string;
  readonly telemetryUrl: string;
  readonly telemetry: TelemetryBackend;
  /** PostgreSQL URLs of the role that reads all five; they hold a password. */
  readonly databaseUrls: PlatformConnection['databaseUrls'];
  /** AMQP URL of the command line's account; holds a password. */
  readonly brokerUrl: string;
  /** Runs the built command with this project; a failure is a code, not an exception. */
  shopctl(...args: string[]): Promise<ShopctlResult>;
  /** Rows as the operator sees them. */
  query<Row extends object>(database: DatabaseName, text: string, values?: readonly unknown[]): Promise<Row[]>;
  state(): Promise<PlatformState>;
  /** `orders-1`, `rabbitmq`. Throws when the platform has no such instance. */
  instance(name: string): Promise<InstanceState>;
  /** Arms a failpoint for its next hit (`orders.stock-reserved:unsaved`; see the kit's failpoints.ts). Needs SHOPCTL_FAILPOINTS=1. */
  arm(failpoint: string, action: string): Promise<void>;
  /** Failpoints that were armed and not hit yet. */
  armed(): Promise<readonly string[]>;
  disarm(failpoint: string): Promise<void>;
  /** The text of secrets.json: all accounts' passwords. */
  secrets(): Promise<string>;
  /** What the services have logged, in no order; all services when none is named. */
  logs(...services: string[]): Promise<readonly LogLine[]>;
  /** The last lines that an instance wrote, whatever they are. */
  logTail(instance: string): Promise<string>;
  /** Ends every process and removes all files. Throws when something could not be ended. */
  stop(): Promise<void>;
}

/** Longest `shopctl` run, in ms; `up` may have to build first. */
const SHOPCTL_TIMEOUT_MS = 180_000;

/** Starts a platform and resolves when it is ready. Throws with the output of `up` when it does not become ready. */
export async function startPlatform(options: PlatformOptions): Promise<TestPlatform> {
  const home = await mkdtemp(join(tmpdir(), 'shop-e2e-'));
  // A test that does not ask for the probe counts the requests that it sends.
  const env = {
    ...withoutSettings(process.env),
    SHOPCTL_PROBE: 'off',
    // From 8080 on the next platform may take the port of one that has ended, whose clients still send requests.
    SHOPCTL_PORT: '0',
    ...options.env,
    SHOPCTL_HOME: home,
    NO_COLOR: '1',
  };
  const root = cloneRoot();
  const project = openProject(options.project, root, env);
  const command = join(root, 'cli/bin/shopctl');
  const shopctl = (...args: string[]) => run(command, [...args, '--project', project.name], env);
  const guard = startGuard(home, [command, 'down', '--volumes', '--project', project.name], env);
  const stop = () => guard[Symbol.asyncDispose]();

  const replicas = Object.entries(options.replicas ?? {}).flatMap(([name, count]) => [
    '--replicas',
    `${name}=${count}`,
  ]);
  const up = await shopctl('up', ...(options.services ?? []), ...replicas, ...(options.direct ? ['--direct'] : []));
  if (up.code !== 0) {
    await stop();
    throw new Error(`shopctl up ended with ${up.code}: ${up.stderr}`);
  }
  const failpointDir = failpointFolder(project);
  await mkdir(failpointDir, { recursive: true, mode: 0o700 });
  return connected({ project, env, shopctl, stop, failpointDir });
}

interface Started {
  readonly project: Project;
  readonly env: NodeJS.ProcessEnv;
  readonly shopctl: TestPlatform['shopctl'];
  readonly failpointDir: string;
  stop(): Promise<void>;
}

async function connected({ project, env, shopctl, failpointDir, stop }: Started): Promise<TestPlatform> {
  const { gatewayUrl, telemetryUrl, databaseUrls, brokerUrl, control } = await connectPlatform(project, env);
  const pools = openPools(databaseUrls);
  return {
    project,
    gatewayUrl,
    telemetryUrl,
    telemetry: createBackend(telemetryUrl),
    databaseUrls,
    brokerUrl,
    shopctl,
    async query<Row extends object>(database: DatabaseName, text: string, values: readonly unknown[] = []) {
      return (await pools[database].query<Row>(text, [...values])).rows;
    },
    state: () => control.state(),
    async instance(name) {
      const { instances } = await control.state();
      const found = instances.find((instance) => instance.name === name);
      if (found === undefined) throw new Error(`the platform has no ${name}`);
      return found;
    },
    async arm(failpoint, action) {
      // Renamed into place: a service that looks meanwhile must not find an empty file.
      await writeFile(join(failpointDir, `.${failpoint}`), action);
      await rename(join(failpointDir, `.${failpoint}`), join(failpointDir, failpoint));
    },
    armed: () => armedFailpoints(failpointDir),
    disarm: (failpoint) => disarmFailpoint(join(failpointDir, failpoint)),
    secrets: () => readFile(project.secretsFile, 'utf8'),
    logs: (...services) => readLogs(project.logDir, services),
    async logTail(instance) {
      const text = await readFile(join(project.logDir, `${instance}.log`), 'utf8');
      return text.split('\n').slice(-40).join('\n');
    },
    async stop() {
      await Promise.all(Object.values(pools).map((pool) => pool.end()));
      await stop();
    },
  };
}

function openPools(urls: PlatformConnection['databaseUrls']): Record<DatabaseName, pg.Pool> {
  const pools = Object.entries(urls).map(([name, connectionString]) => {
    const pool = new pg.Pool({ connectionString, max: 2, connectionTimeoutMillis: 5_000, query_timeout: 10_000 });
    // Tests end the server on purpose; the next query opens another connection.
    pool.on('error', () => undefined);
    return [name, pool];
  });
  return Object.fromEntries(pools) as Record<DatabaseName, pg.Pool>;
}

async function readLogs(folder: string, services: readonly string[]): Promise<readonly LogLine[]> {
  const wanted = (file: string) => services.length === 0 || services.some((name) => file.startsWith(`${name}-`));
  const files = (await readdir(folder)).filter((file) => serviceNames.some((name) => file.startsWith(`${name}-`)));
  const texts = await Promise.all(files.filter(wanted).map((file) => readFile(join(folder, file), 'utf8')));
  return texts.flatMap((text) =>
    text
      .split('\n')
      .filter((line) => line.startsWith('{') && line.endsWith('}'))
      .map((line) => JSON.parse(line) as LogLine),
  );
}

/** The user's own settings for the platform are not for tests. */
function withoutSettings(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name]) => !/^(SHOPCTL_|EDGE_|OTEL_|NODE_OPTIONS|LOG_LEVEL|VITEST)/.test(name),
  );
  return Object.fromEntries(kept);
}

function run(command: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<ShopctlResult> {
  return new Promise((resolve, reject) => {
    const options = { env, timeout: SHOPCTL_TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
    execFile(command, [...args], options, (error, stdout, stderr) => {
      if (error !== null && typeof error.code !== 'number') reject(error);
      else resolve({ code: Number(error?.code ?? 0), stdout, stderr });
    });
  });
}
