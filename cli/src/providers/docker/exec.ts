import { execute } from './container-run.ts';
import { type EngineUrl, engineUrl, openEngine } from './engine.ts';

/**
 * Runs a command in a container of ours and returns what it wrote. Throws with its error output when it fails.
 * `url` is the launch's `info.engine`.
 */
export async function execInContainer(
  container: string,
  command: readonly string[],
  url: EngineUrl = engineUrl(process.env),
): Promise<string> {
  return execute(await openEngine(url), container, command);
}
