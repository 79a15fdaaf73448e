import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CliError, messageOf } from '../errors.ts';
import { formatDuration } from '../shared/duration.ts';
import { serviceNames } from '../topology/services.ts';
import type { Project } from './project.ts';

/** `instrumented`: services that run under OpenTelemetry's instrumentations, too; absent: when they were built before. */
interface Wanted {
  readonly instrumented?: boolean;
  /** These targets alone. */
  readonly names?: readonly string[];
}

interface BuildScript {
  staleNames(): Promise<readonly string[]>;
  buildIfStale(wanted: Wanted): Promise<{ built: readonly string[]; changed: readonly string[] }>;
}

/** Identifies the built supervisor. */
export async function supervisorBuild({ root }: Pick<Project, 'root'>): Promise<string> {
  const entry = await readFile(join(root, 'dist/cli/supervisor.cjs'));
  return createHash('sha256').update(entry).digest('hex').slice(0, 16);
}

/** Targets of the build whose code runs in a platform; what else is in dist/ is used by commands only. */
const LAUNCHED: ReadonlySet<string> = new Set([...[...serviceNames, 'telemetry'].flatMap(builds), 'supervisor']);

/** What the instances of a service are made of, in the words of the build script. */
export function targetsOf(service: string): readonly string[] {
  return ['telemetry', service].flatMap(builds);
}

/** The second one is there only where it was asked for. */
function builds(target: string): readonly string[] {
  return [target, `${target}-instrumented`];
}

/** The bundles in dist/, made by the clone's build script. */
export function bundles({ root }: Pick<Project, 'root'>) {
  const load = async () => (await import(pathToFileURL(join(root, 'scripts/build.mjs')).href)) as BuildScript;
  return {
    /** What a platform runs and is older than its sources: `orders`, `supervisor`. */
    async stale(): Promise<readonly string[]> {
      return (await (await load()).staleNames()).filter((name) => LAUNCHED.has(name));
    },

    /**
     * Builds what is older than its sources (of the named targets only) and says so. Resolves with the files whose content
     * changed, relative to the clone; throws CliError when it does not compile.
     */
    async buildIfStale(say: (line: string) => void, wanted: Wanted = {}): Promise<readonly string[]> {
      const script = await load();
      const began = performance.now();
      try {
        const { built, changed } = await script.buildIfStale(wanted);
        if (built.length > 0) say(`built ${built.join(', ')} in ${formatDuration(performance.now() - began)}`);
        return changed;
      } catch (cause) {
        throw new CliError({
          code: 'build_failed',
          what: 'the sources do not compile',
          why: messageOf(cause),
          next: 'correct them, or use what was built before with --no-build',
          cause,
        });
      }
    },
  };
}
