import type { Project } from '../../platform/project.ts';
import { complaintOf, exitCodeOf, runProgram } from '../../process/run-program.ts';

/** How a command of an operator ended. */
export interface Ran {
  /** Undefined: it did not end within its limit. */
  readonly exitCode: number | undefined;
  readonly stdout: string;
  /** What it said instead, where it failed. */
  readonly complaint?: string;
}

/** Has commands of shopctl run on one project, each as a separate process, as a person at a terminal does. */
export interface Operator {
  /** Words after `shopctl`, without a project and without a format: the result is JSON. */
  run(words: readonly string[]): Promise<Ran>;
}

/** Longer than a deploy takes to be rolled back on a busy machine, ms. */
const COMMAND_LIMIT_MS = 180_000;

export interface OperatorOptions {
  readonly project: Pick<Project, 'name'>;
  readonly env: NodeJS.ProcessEnv;
  readonly signal?: AbortSignal;
}

export function createOperator({ project, env, signal }: OperatorOptions): Operator {
  return {
    async run(words) {
      const program = [...process.execArgv, process.argv[1] as string];
      const args = [...program, ...words, '--project', project.name, '--json'];
      try {
        const { stdout } = await runProgram(process.execPath, args, { env, signal, timeoutMs: COMMAND_LIMIT_MS });
        return { exitCode: 0, stdout };
      } catch (error) {
        signal?.throwIfAborted();
        const { stdout = '' } = error as { readonly stdout?: string };
        return { exitCode: exitCodeOf(error), stdout, complaint: complaintOf(error) };
      }
    },
  };
}
