import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { CliError } from '../../errors.ts';
import { signalGroup } from '../../process/signal.ts';
import { runJsonSession } from './json-session.ts';
import type { Player } from './player.ts';

/** From the end of a round to the end of its program, and from a request to end to a kill, ms. */
const END_LIMIT_MS = 1_000;

/**
 * A player that is a command of the shell, which speaks JSON lines on its standard streams. What it writes to stderr is said to people. Its
 * process group ends with the round. Throws CliError (2) where it cannot be started.
 */
export function agentPlayer(command: string): Player {
  return async (session) => {
    const { env, project, signal, say } = session;
    // A group: what a shell starts ends with it.
    const child = spawn('/bin/sh', ['-c', command], {
      env: { ...env, SHOPCTL_PROJECT: project.name },
      stdio: ['pipe', 'pipe', 'pipe'],
      detached: true,
    });
    const exited = once(child, 'exit').then(([code]) => code as number | null);
    createInterface({ input: child.stderr }).on('line', (line) => say(line));
    // The program may be gone before it has read everything.
    child.stdin.on('error', () => undefined);
    const endAll = (name: NodeJS.Signals) => child.pid !== undefined && signalGroup(child.pid, name);
    try {
      await runJsonSession({ input: child.stdout, output: child.stdin }, session);
      child.stdin.end();
      const code = await Promise.race([exited, delay(END_LIMIT_MS, undefined)]);
      if (code === NOT_FOUND || code === NOT_EXECUTABLE) throw notStarted(command, code);
      if (!signal.aborted && code !== undefined) say(`the program ended with ${code ?? 'a signal'}`);
    } finally {
      endAll('SIGTERM');
      await Promise.race([exited, delay(END_LIMIT_MS)]);
      endAll('SIGKILL');
    }
  };
}

/** Exit codes of a shell. Source: POSIX.1-2017, XCU 2.8.2. */
const [NOT_EXECUTABLE, NOT_FOUND] = [126, 127];

function notStarted(command: string, code: number): CliError {
  return new CliError({
    code: 'agent_not_started',
    what: `the agent was not started: ${command}`,
    why: `the shell ended with ${code}`,
    next: 'name a command that the shell finds: --agent "node agent.mjs"',
  });
}
