/** The built `shopctl` as its users run it, with a separate home, and the traces a run may leave on the machine. */
import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { cloneRoot, openProject, type Project } from '../../../cli/src/platform/project.ts';
import { guardMark, startGuard } from '../../support/guard.ts';

export interface Ended {
  /** 128 + signal number when a signal ended it. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
}

export interface Shell {
  /** SHOPCTL_HOME: the state of every project started here. */
  readonly home: string;
  readonly env: NodeJS.ProcessEnv;
  /** Runs a command to its end. */
  run(...args: string[]): Promise<Ended>;
  /** Starts a command. */
  start(...args: string[]): Running;
  project(name?: string): Project;
  /** Processes that belong to this home, as "pid command". */
  processes(): readonly string[];
  /** Sockets of its projects that are still there. */
  sockets(...names: string[]): readonly string[];
  /** Stops every project with `down`, and removes the home unless its maker does. */
  remove(): Promise<void>;
}

export interface ShellOptions {
  /** The clone whose `shopctl` is run; default: this one. */
  readonly root?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
  /** Its maker removes it, also when the tests are killed. Default: a separate one, which this removes. */
  readonly home?: string;
}

const SIGNAL_CODES: Readonly<Record<string, number>> = { SIGINT: 130, SIGKILL: 137, SIGTERM: 143 };

/** Stops every project of the home $1 with the command $2. */
const DOWN_OF_ALL = `for state in "$1"/*/; do
  [ ! -d "$state" ] || SHOPCTL_HOME=$1 "$2" down --volumes --project "$(basename "$state")" || exit
done`;

/** Opens a shell with an empty home. The user's own settings for the platform do not reach it. */
export async function openShell(options: ShellOptions = {}): Promise<Shell> {
  const home = options.home ?? (await mkdtemp(join(tmpdir(), 'shop-cli-')));
  const root = options.root ?? cloneRoot();
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(SHOPCTL_|EDGE_|OTEL_|NODE_OPTIONS|VITEST)/.test(name),
  );
  const settings: NodeJS.ProcessEnv = {
    ...Object.fromEntries(inherited),
    SHOPCTL_PROBE: 'off',
    // From 8080 on the next platform may take the port of one that has ended, whose clients still send requests.
    SHOPCTL_PORT: '0',
    ...options.env,
    NO_COLOR: '1',
  };
  const command = join(root, 'cli/bin/shopctl');
  // Without the home in its environment: processes() does not list it.
  const guard =
    options.home === undefined
      ? startGuard(home, ['/bin/sh', '-c', DOWN_OF_ALL, 'down', home, command], settings)
      : undefined;
  const env = { ...settings, SHOPCTL_HOME: home, ...(guard && guardMark(home)) };
  const project = (name = 'shop') => openProject(name, root, env);
  const start = (...args: string[]): Running => {
    const child = spawn(command, args, {
      cwd: root,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      // A separate group, so that Ctrl-C can be sent to it as a terminal does.
      detached: true,
      ...(options.uid !== undefined && { uid: options.uid }),
      ...(options.gid !== undefined && { gid: options.gid }),
    });
    return { child, ended: endOf(child) };
  };
  const run = (...args: string[]) => start(...args).ended;
  return {
    home,
    env,
    run,
    start,
    project,
    processes: () => processesOf(home),
    sockets: (...names) => names.map((name) => project(name).socketPath).filter((path) => existsSync(path)),
    async remove() {
      for (const { name } of readdirSync(home, { withFileTypes: true }).filter((entry) => entry.isDirectory())) {
        const down = await run('down', '--volumes', '--project', name);
        if (down.code !== 0) throw new Error(`down of ${name} ended with ${down.code}: ${down.stderr}`);
        // The guard does not do it again.
        await rm(join(home, name), { recursive: true, force: true });
      }
      await guard?.[Symbol.asyncDispose]();
    },
  };
}

async function endOf(child: ChildProcess): Promise<Ended> {
  const code = new Promise<number>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (exitCode, signal) => resolve(exitCode ?? SIGNAL_CODES[signal ?? ''] ?? 128));
  });
  const [stdout, stderr] = [child.stdout, child.stderr].map((stream) => (stream ? text(stream) : ''));
  return { code: await code, stdout: (await stdout) ?? '', stderr: (await stderr) ?? '' };
}

/** Every process of a platform writes to a log below its home, or has the home in its environment. */
function processesOf(home: string): readonly string[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      const belongs =
        readlinkSync(`/proc/${pid}/fd/1`).startsWith(`${home}/`) ||
        readFileSync(`/proc/${pid}/environ`, 'utf8').includes(home);
      return belongs
        ? [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').slice(0, 120)}`]
        : [];
    } catch (error) {
      // It has just ended, or is a zombie.
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' || code === 'ESRCH' || code === 'EACCES' || code === 'EPERM') return [];
      throw error;
    }
  });
}
