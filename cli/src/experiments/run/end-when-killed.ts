import { spawn } from 'node:child_process';
import { identifyProcess, type ProcessIdentity } from '../../process/process-identity.ts';

/** Ends the platform of a command that was killed. */
export interface Reaper {
  /** Undefined when it could not be started. */
  readonly identity: ProcessIdentity | undefined;
  /** The command has ended its platform, or leaves it running on purpose. */
  dismiss(): void;
}

/** Its input ends with the command. After a word it goes; without one it runs its arguments, then removes the note. */
const SCRIPT = `
read -r word
[ "$word" = done ] && exit 0
note=$1
shift
"$@" </dev/null >/dev/null 2>&1 && rm -f "$note"
`;

/**
 * Starts a shell in a separate session that takes a project's platform down with its data when this process was killed
 * (SIGKILL, out of memory).
 */
export async function endWhenKilled(name: string, note: string, env: NodeJS.ProcessEnv): Promise<Reaper> {
  const down = [
    process.execPath,
    ...process.execArgv,
    process.argv[1] as string,
    'down',
    '--volumes',
    '--project',
    name,
  ];
  const reaper = spawn('/bin/sh', ['-c', SCRIPT, 'shopctl-reaper', note, ...down], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env,
  });
  // A machine without /bin/sh has none; the next run then takes down what is left.
  reaper.once('error', () => undefined);
  reaper.stdin.on('error', () => undefined);
  reaper.unref();
  return {
    identity: reaper.pid === undefined ? undefined : await identifyProcess(reaper.pid),
    dismiss: () => void reaper.stdin.end('done\n'),
  };
}
