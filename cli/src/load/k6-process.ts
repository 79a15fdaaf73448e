import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ScenarioName, Settings } from '../../../scenarios/lib/scenarios.ts';
import { identifyProcess, type ProcessIdentity } from '../process/process-identity.ts';

export interface K6Run {
  /** Path of the program. */
  readonly program: string;
  /** Of the clone. */
  readonly root: string;
  /** Belongs to this run alone. */
  readonly folder: string;
  /** Path of the script in `scenarios/`, without its ending. */
  readonly scenario: ScenarioName | 'bench/restarts';
  readonly settings: Settings;
  /** What the script reads beside its settings. */
  readonly variables?: Readonly<Record<string, string>>;
  readonly seed: number;
  readonly runId: string;
  readonly gatewayUrl: string;
  /** k6's own report; undefined: none. */
  readonly htmlFile?: string | undefined;
}

/** Files of a run, in its folder. */
export function filesOf(folder: string): { console: string; summary: string; messages: string } {
  return {
    console: join(folder, 'console.ndjson'),
    summary: join(folder, 'summary.json'),
    messages: join(folder, 'k6.log'),
  };
}

export interface RunningK6 {
  readonly process: ProcessIdentity;
  /** Resolves with its exit code, or 128 and the number of the signal that ended it. */
  readonly ended: Promise<number>;
  /** Ends it immediately: orders in flight are cut off. Resolves when it is gone. */
  stop(): Promise<void>;
  /** The last lines that it wrote about itself. */
  messages(): Promise<string>;
}

/** After SIGINT k6 writes its summary and ends; one that does not is killed, ms. */
const STOP_LIMIT_MS = 5_000;
const SIGINT_CODE = 130;
/** Lines of k6's own log that are shown when something is wrong. */
const SHOWN_LINES = 8;

/**
 * k6 must not outlive the command, also when that is killed. The guard waits for a line that only the command can write; at
 * end of file without it, it ends k6. The shell then becomes k6, so that the pid is k6's own.
 */
const GUARDED = `
pid=$$
( read -r line; [ "$line" = done ] && exit; kill -INT $pid; sleep 2; kill -KILL $pid ) 2>/dev/null <&3 &
exec 3<&-
exec "$@" </dev/null
`;

/** Starts k6 on a scenario. It has a separate environment: a K6_ variable of the user's would change the scenario. */
export async function startK6(run: K6Run): Promise<RunningK6> {
  const files = filesOf(run.folder);
  const log = openSync(files.messages, 'a', 0o600);
  const child = spawn('/bin/sh', ['-c', GUARDED, 'k6', run.program, ...argumentsOf(run, files)], {
    cwd: run.root,
    env: environmentOf(run, files),
    // A separate process group: Ctrl-C reaches the command alone, which ends k6 itself.
    detached: true,
    stdio: ['ignore', log, log, 'pipe'],
  });
  closeSync(log);
  const ended = endOf(child);
  if (child.pid === undefined) throw new Error(`k6 could not be started: it ended with ${await ended}`);
  // One that has ended immediately has no identity any more; its exit code says why.
  const identity = (await identifyProcess(child.pid)) ?? { pid: child.pid, startTime: 'ended' };
  return {
    process: identity,
    ended,
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_LIMIT_MS);
      child.kill('SIGINT');
      await ended;
      clearTimeout(timer);
    },
    async messages() {
      const text = await readFile(files.messages, 'utf8');
      return text.trim().split('\n').slice(-SHOWN_LINES).join('\n');
    },
  };
}

function argumentsOf({ root, scenario }: K6Run, files: ReturnType<typeof filesOf>): string[] {
  return [
    'run',
    '--quiet',
    '--no-color',
    '--no-usage-report',
    '--log-format=raw',
    `--console-output=${files.console}`,
    join(root, 'scenarios', `${scenario}.ts`),
  ];
}

function environmentOf(run: K6Run, files: ReturnType<typeof filesOf>): NodeJS.ProcessEnv {
  const { rate, durationS, vus, hasFault } = run.settings;
  return {
    PATH: '/usr/bin:/bin',
    // k6 looks for its configuration there: a user's own would change the scenario too.
    HOME: run.folder,
    SHOP_URL: run.gatewayUrl,
    SHOP_RUN: run.runId,
    SHOP_SEED: String(run.seed),
    SHOP_RATE: String(rate),
    SHOP_DURATION_S: String(durationS),
    SHOP_VUS: String(vus),
    SHOP_FAULT: hasFault ? '1' : '0',
    SHOP_SUMMARY: files.summary,
    ...run.variables,
    ...(run.htmlFile !== undefined && {
      K6_WEB_DASHBOARD: 'true',
      // The report without the server.
      K6_WEB_DASHBOARD_PORT: '-1',
      K6_WEB_DASHBOARD_PERIOD: durationS < 120 ? '1s' : '5s',
      K6_WEB_DASHBOARD_EXPORT: run.htmlFile,
    }),
  };
}

function endOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      // The guard gets a line; when it is gone already, so is its end of the pipe.
      const guard = child.stdio[3] as NodeJS.WritableStream;
      guard.on('error', () => undefined);
      guard.end('done\n');
      resolve(code ?? (signal === 'SIGINT' ? SIGINT_CODE : 137));
    });
  });
}
