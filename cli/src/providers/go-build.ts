import { randomUUID } from 'node:crypto';
import { basename, dirname, join } from 'node:path';
import { complaintOf, runProgram } from '../process/run-program.ts';
import type { ComponentContext, OnProgress } from './component.ts';
import { requireOnPath } from './executables.ts';
import { installPrograms, type MadeProgram } from './install-program.ts';

export interface GoProgram {
  /** What people call it. */
  readonly title: string;
  /** Path of the module that holds it. */
  readonly modulePath: string;
  /** Folder of its main package inside the module, "cmd/server". */
  readonly mainPackage: string;
  /** "v2.12.0": the module proxy and checksum database prove its content. */
  readonly version: string;
  /** Where the finished program goes. */
  readonly target: string;
  /** Build tags, "netgo,remove_all_sd". */
  readonly tags?: string;
  /** Options of the linker, "-X path.Version=1.0.0". */
  readonly ldflags?: string;
  /** Folders of further main packages in the module: they are built too, and put beside `target` under the folder's name. */
  readonly also?: readonly string[];
}

/** No data for debuggers, which takes an eighth of the time and a third of the file; stack traces do not need it. */
const GO_BUILD_OPTIONS = ['-trimpath', '-gcflags=all=-dwarf=false'];

/** A large program takes minutes on a small machine. */
const BUILD_TIMEOUT_MS = 30 * 60_000;

/**
 * Builds a program from the module proxy's sources and puts it at `target` in one step. It is built inside its own module
 * and not by `go install PATH@VERSION`, which refuses modules whose go.mod replaces a dependency, as Jaeger's does.
 * Sources and build cache are in a folder that is removed afterwards, also when `signal` ends the build. Nothing reaches
 * the user's own Go folders, but for a build cache that GOCACHE names.
 */
export async function buildGoProgram(
  program: GoProgram,
  { cacheDir, env }: Pick<ComponentContext, 'cacheDir' | 'env'>,
  onProgress: OnProgress,
  signal?: AbortSignal,
): Promise<void> {
  const go = await requireOnPath('go', env, `${program.title}: building it needs Go`);
  await installPrograms(join(cacheDir, `go-${randomUUID()}`), async (draft) => {
    onProgress(`building ${program.title} ${program.version} with Go (its modules are downloaded first)`);
    const run = goRunner(
      go,
      program,
      {
        ...env,
        GOPATH: join(draft, 'path'),
        GOCACHE: env.GOCACHE || join(draft, 'cache'),
        GOFLAGS: '-modcacherw',
        // A workspace file that a module was published with names modules which were not.
        GOWORK: 'off',
        // As these programs' own releases are built. The same whether or not there is a C compiler.
        CGO_ENABLED: '0',
      },
      signal,
    );
    const { modulePath, version, mainPackage, tags, ldflags, target, also = [] } = program;
    // Outside any module: what the current folder's go.mod says is not ours.
    const response = await run(['mod', 'download', '-json', `${modulePath}@${version}`], draft);
    const sources = (JSON.parse(response) as { readonly Dir: string }).Dir;
    const made: MadeProgram[] = [];
    const places = [
      ...also.map((folder) => ({ folder, target: join(dirname(target), basename(folder)) })),
      { folder: mainPackage, target },
    ];
    for (const [index, place] of places.entries()) {
      const file = join(draft, `program-${index}`);
      const options = [
        ...GO_BUILD_OPTIONS,
        ...(tags === undefined ? [] : ['-tags', tags]),
        `-ldflags=${['-s', '-w', ldflags].filter(Boolean).join(' ')}`,
      ];
      await run(['build', ...options, '-o', file, `./${place.folder}`], sources);
      made.push({ file, target: place.target });
    }
    return made;
  });
}

/** Runs `go` and resolves with what it printed. Rejects with what it complained about. */
function goRunner(go: string, { title, version }: GoProgram, env: NodeJS.ProcessEnv, signal?: AbortSignal) {
  return async (args: readonly string[], cwd: string): Promise<string> => {
    try {
      const { stdout } = await runProgram(go, args, {
        cwd,
        env,
        timeoutMs: BUILD_TIMEOUT_MS,
        signal,
      });
      return stdout;
    } catch (cause) {
      throw new Error(`${title} ${version} could not be built: ${complaintOf(cause).slice(-1_000)}`, { cause });
    }
  };
}
