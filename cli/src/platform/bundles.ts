import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CliError, messageOf } from '../errors.ts';
import { formatDuration } from '../output/units.ts';
import type { Project } from './project.ts';

interface BuildScript {
  isStale(): Promise<boolean>;
  buildIfStale(): Promise<{ built: readonly string[]; changed: readonly string[] }>;
}

/** The bundles in dist/, made by the clone's build script. */
export function bundles({ root }: Pick<Project, 'root'>) {
  return {
    /** Builds what is older than its sources and says so; throws CliError when it does not compile. */
    async buildIfStale(say: (line: string) => void): Promise<void> {
      const file = pathToFileURL(join(root, 'scripts/build.mjs')).href;
      const script = (await import(file)) as BuildScript;
      if (!(await script.isStale())) return;
      const began = performance.now();
      try {
        const { built } = await script.buildIfStale();
        say(`built ${built.join(', ')} in ${formatDuration(performance.now() - began)}`);
      } catch (cause) {
        throw new CliError({
          what: 'the sources do not compile',
          why: messageOf(cause),
          next: 'correct them, or start what was built before with "shopctl up --no-build"',
          cause,
        });
      }
    },
  };
}
