import { bundles } from './bundles.ts';
import type { Project } from './project.ts';

/** Says that this process replaced one whose code was older than its sources. */
const CONTINUED = 'SHOPCTL_CONTINUED';

export interface Continuation {
  readonly env: NodeJS.ProcessEnv;
  say(line: string): void;
  /** Builds what is stale; resolves with the files of dist/ whose content changed. */
  readonly build?: (say: (line: string) => void) => Promise<readonly string[]>;
  /** Replaces this process by another, as execve(2) does. */
  readonly replace?: (file: string, args: readonly string[], env: NodeJS.ProcessEnv) => void;
}

/**
 * Builds what is stale. Where that changed the command itself, restarts it, in this process and before it has done
 * anything. Otherwise the code in memory would meet a supervisor of another build, which may use another socket or
 * protocol. It would also import modules that are no longer there.
 */
export async function continueAsBuilt(project: Project, options: Continuation): Promise<void> {
  const { env, say, build = bundles(project).buildIfStale, replace = replaceProcess } = options;
  const changed = await build(say);
  const isOutdated = changed.some((file) => file.startsWith('dist/cli/'));
  // Once only: a clock or a file system that makes sources look new forever must not start it over forever.
  if (!isOutdated || env[CONTINUED] !== undefined) return;
  const [file = process.execPath, ...args] = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  replace(file, args, { ...env, [CONTINUED]: '1' });
}

function replaceProcess(file: string, args: readonly string[], env: NodeJS.ProcessEnv): void {
  process.execve?.(file, [file, ...args], env);
}
