import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CliError, messageOf } from '../errors.ts';
import { formatDuration } from '../shared/duration.ts';
import type { Project } from './project.ts';

/** `instrumented`: services that run under OpenTelemetry's instrumentations, too; absent: when they were built before. */
interface Wanted {
  readonly instrumented?: boolean;
}

interface BuildScript {
  isStale(wanted: Wanted): Promise<boolean>;
  buildIfStale(wanted: Wanted): Promise<{ built: readonly string[]; changed: readonly string[] }>;
}

/** Identifies the built supervisor. Its chunks are named by their content, so its entry changes with any of them. */
export async function supervisorBuild({ root }: Pick<Project, 'root'>): Promise<string> {
  const entry = await readFile(join(root, 'dist/cli/supervisor.mjs'));
  return createHash('sha256').update(entry).digest('hex').slice(0, 16);
}

/** The bundles in dist/, made by the clone's build script. */
export function bundles({ root }: Pick<Project, 'root'>) {
  return {
    /**
     * Builds what is older than its sources and says so. Resolves with the files whose content changed, relative to the
     * clone; throws CliError when it does not compile.
     */
    async buildIfStale(say: (line: string) => void, wanted: Wanted = {}): Promise<readonly string[]> {
      const file = pathToFileURL(join(root, 'scripts/build.mjs')).href;
      const script = (await import(file)) as BuildScript;
      if (!(await script.isStale(wanted))) return [];
      const began = performance.now();
      try {
        const { built, changed } = await script.buildIfStale(wanted);
        say(`built ${built.join(', ')} in ${formatDuration(performance.now() - began)}`);
        return changed;
      } catch (cause) {
        throw new CliError({
          code: 'build_failed',
          what: 'the sources do not compile',
          why: messageOf(cause),
          next: 'correct them, or start what was built before with "shopctl up --no-build"',
          cause,
        });
      }
    },
  };
}
