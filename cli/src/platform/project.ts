import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { CliError } from '../errors.ts';
import { componentWays } from '../providers/component.ts';

/** One copy of the platform and where its files are. Several projects can run side by side from one clone. */
export interface Project {
  /** Lower-case letters, digits and dashes; default `shop`. */
  readonly name: string;
  /** Root of the clone. */
  readonly root: string;
  /** `.shop/<name>/`: everything that belongs to this project only. */
  readonly stateDir: string;
  readonly stateFile: string;
  readonly secretsFile: string;
  readonly logDir: string;
  /** Held by the project's supervisor. */
  readonly lockFile: string;
  /** Unix socket of the control API: the same whatever the caller's environment, and kept at the end of a session. */
  readonly socketPath: string;
  /** What clones share: downloaded components, compile cache. */
  readonly cacheDir: string;
}

export interface ProjectOptions {
  readonly project?: string | undefined;
}

/** The project a command means: flag, then SHOPCTL_PROJECT, then `shopctl.json`, then `shop`. Throws CliError (2) for a bad name. */
export function projectFrom(options: ProjectOptions, env: NodeJS.ProcessEnv): Project {
  const root = cloneRoot();
  return openProject(options.project ?? env.SHOPCTL_PROJECT ?? readConfigFile(root, env).project ?? 'shop', root, env);
}

/** The paths of a named project. `SHOPCTL_HOME` replaces `<root>/.shop`. */
export function openProject(name: string, root: string, env: NodeJS.ProcessEnv): Project {
  if (!/^[a-z0-9][a-z0-9-]{0,30}$/.test(name)) {
    throw new CliError({
      code: 'invalid_argument',
      what: `"${name}" is not a project name`,
      why: 'a project name has up to 31 lower-case letters, digits and dashes, and begins with a letter or digit',
      next: 'choose another name with --project',
    });
  }
  const stateDir = join(env.SHOPCTL_HOME ?? join(root, '.shop'), name);
  return {
    name,
    root,
    stateDir,
    stateFile: join(stateDir, 'state.json'),
    secretsFile: join(stateDir, 'secrets.json'),
    logDir: join(stateDir, 'logs'),
    lockFile: join(stateDir, 'supervisor.lock'),
    socketPath: socketPathOf(stateDir),
    cacheDir: join(env.XDG_CACHE_HOME || join(env.HOME ?? homedir(), '.cache'), 'shopctl'),
  };
}

/** What `shopctl.json` in the clone's root, or the file named by SHOPCTL_CONFIG, may say. */
export interface ConfigFile {
  readonly project?: string;
  /** Seconds. */
  readonly waitTimeout?: number;
  readonly direct?: boolean;
  readonly runtime?: string;
  readonly instrumentation?: string;
  readonly with?: string;
  readonly providers?: Readonly<Record<string, string>>;
}

/** Reads the configuration file; an absent default file is an empty one. Throws CliError (2) when it cannot be parsed. */
export function readConfigFile(root: string, env: NodeJS.ProcessEnv): ConfigFile {
  const file = env.SHOPCTL_CONFIG ?? join(root, 'shopctl.json');
  if (env.SHOPCTL_CONFIG === undefined && !existsSync(file)) return {};
  try {
    return checkConfig(JSON.parse(readFileSync(file, 'utf8')));
  } catch (cause) {
    throw new CliError({
      code: 'invalid_configuration',
      what: `cannot use the configuration file ${file}`,
      why: (cause as Error).message,
      next: 'correct the file, or unset SHOPCTL_CONFIG',
      cause,
    });
  }
}

/** The keys of the configuration file, with the variable that overrides each, as docs/configuration.md shows them. */
export const configKeys = {
  project: { type: 'string', default: 'shop', variable: 'SHOPCTL_PROJECT', meaning: 'project that commands mean' },
  waitTimeout: {
    type: 'number',
    default: '180',
    variable: 'SHOPCTL_WAIT_TIMEOUT',
    meaning: 'seconds that `up` waits for readiness',
  },
  direct: { type: 'boolean', default: 'false', variable: 'SHOPCTL_DIRECT', meaning: 'wire services without Toxiproxy' },
  runtime: {
    type: 'string',
    default: 'process',
    variable: 'SHOPCTL_RUNTIME',
    meaning: 'what services run as: `process` or `docker`',
  },
  instrumentation: {
    type: 'string',
    default: 'manual',
    variable: 'SHOPCTL_INSTRUMENTATION',
    meaning: 'who makes the spans of servers and clients: `manual` (the services) or `stock` (OpenTelemetry)',
  },
  with: {
    type: 'string',
    default: '-',
    variable: 'SHOPCTL_WITH',
    meaning: 'parts that `up` also runs: `alerts` ([Prometheus](alerts.md#prometheus))',
  },
  providers: {
    type: 'object',
    default: '{}',
    variable: undefined,
    meaning: 'where components come from, like `{"postgres": "docker"}`',
  },
} as const satisfies Record<keyof ConfigFile, ConfigKey>;

interface ConfigKey {
  readonly type: string;
  readonly default: string;
  readonly variable: string | undefined;
  readonly meaning: string;
}

/** Throws what is wrong with it: an unknown key would be ignored silently. */
function checkConfig(value: unknown): ConfigFile {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Error('it holds no JSON object');
  for (const [key, one] of Object.entries(value)) {
    const type = Object.hasOwn(configKeys, key) ? configKeys[key as keyof ConfigFile].type : undefined;
    if (type === undefined) throw new Error(`there is no "${key}"; there are ${Object.keys(configKeys).join(', ')}`);
    if (typeof one !== type || one === null)
      throw new Error(`"${key}" must be of type ${type}, not ${JSON.stringify(one)}`);
  }
  const config = value as ConfigFile;
  for (const [component, kind] of Object.entries(config.providers ?? {})) checkSource(component, kind);
  return config;
}

function checkSource(component: string, kind: string): void {
  const kinds: readonly string[] | undefined = Object.entries(componentWays).find(([name]) => name === component)?.[1];
  if (kinds === undefined) throw new Error(`there is no component "${component}"`);
  if (!kinds.includes(kind)) throw new Error(`${component} cannot be "${kind}"; it can be ${kinds.join(', ')}`);
}

let knownRoot: string | undefined;

/** The clone this program belongs to: the nearest folder above it whose package.json is the workspace root. */
export function cloneRoot(): string {
  knownRoot ??= findRoot(import.meta.dirname);
  return knownRoot;
}

function findRoot(start: string): string {
  for (let folder = start; ; folder = dirname(folder)) {
    const manifest = join(folder, 'package.json');
    if (existsSync(manifest) && 'workspaces' in JSON.parse(readFileSync(manifest, 'utf8'))) return folder;
    if (dirname(folder) === folder) {
      throw new CliError({
        code: 'not_in_a_clone',
        what: 'shopctl runs inside its clone only',
        next: 'call it by its path in the clone',
      });
    }
  }
}

/** Longest path of a socket that every system takes: sun_path holds 104 bytes on macOS, 108 on Linux, with a zero. */
const MAX_SOCKET_PATH = 103;

/** In the state directory; beside it where a deep clone makes that path too long. Its owner is checked at both ends. */
function socketPathOf(stateDir: string): string {
  const path = join(stateDir, 'control.sock');
  return Buffer.byteLength(path) <= MAX_SOCKET_PATH ? path : join(sharedDir(), `${hash(stateDir)}.sock`);
}

/** What all projects of a user share at run time, whatever the environment says of temporary folders. */
export function sharedDir(): string {
  return `/tmp/shopctl-${process.getuid?.() ?? 0}`;
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 16);
}
