import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { complaintOf, runProgram } from '../process/run-program.ts';
import type { ComponentContext, OnProgress } from './component.ts';
import { findOnPath } from './executables.ts';

/** apt may have to read a slow mirror's lists. */
const APT_TIMEOUT_MS = 300_000;
const TOOLS = ['apt-get', 'apt-cache', 'dpkg-deb'];

/** True on Debian and its relatives. */
export async function hasApt(env: NodeJS.ProcessEnv): Promise<boolean> {
  const found = await Promise.all(TOOLS.map((tool) => findOnPath(tool, env)));
  return found.every((path) => path !== undefined);
}

/**
 * apt as an ordinary user has it: it knows packages and downloads them (and checks their signatures), and installs
 * nothing. With separate package lists, in the cache directory, when the machine's are missing (they often are in
 * container images).
 */
export class Apt {
  readonly #cacheDir: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #signal: AbortSignal | undefined;
  #options: string[] = [];

  constructor({ cacheDir, env }: Pick<ComponentContext, 'cacheDir' | 'env'>, signal: AbortSignal | undefined) {
    this.#cacheDir = cacheDir;
    this.#env = env;
    this.#signal = signal;
  }

  /** A package and those of its dependencies that are wanted, by name. Rejects when the sources offer no such package. */
  async packages(name: string, isWanted: (dependency: string) => boolean, onProgress: OnProgress): Promise<string[]> {
    const known = await this.#closure(name, isWanted);
    if (known.length > 0) return known;
    onProgress('reading the package lists (the machine has none)');
    await this.#useOwnLists();
    await this.#run('apt-get', ['update', '-q']);
    const names = await this.#closure(name, isWanted);
    if (names.length === 0) throw new Error(`apt knows no package ${name}: its sources do not offer one`);
    return names;
  }

  /** Downloads packages into a folder and unpacks them below `root` there. */
  async unpack(names: readonly string[], folder: string, onProgress: OnProgress): Promise<string> {
    await this.#run('apt-get', ['download', ...names], folder);
    const root = join(folder, 'root');
    const archives = (await readdir(folder)).filter((file) => file.endsWith('.deb'));
    for (const [index, archive] of archives.entries()) {
      onProgress(`unpacking ${archive.split('_')[0]} (${index + 1} of ${archives.length})`);
      await this.#run('dpkg-deb', ['-x', join(folder, archive), root], folder);
    }
    return root;
  }

  async #closure(name: string, isWanted: (dependency: string) => boolean): Promise<string[]> {
    const filters = ['recommends', 'suggests', 'conflicts', 'breaks', 'replaces', 'enhances'].map(
      (kind) => `--no-${kind}`,
    );
    const { stdout } = await this.#run('apt-cache', ['depends', '--recurse', ...filters, name]).catch(
      (error: Error) => {
        if (/No packages found|Unable to locate/.test(error.message)) return { stdout: '' };
        throw error;
      },
    );
    const lines = new Set(stdout.split('\n'));
    return [...lines].filter((line) => line === name || isWanted(line)).sort();
  }

  async #useOwnLists(): Promise<void> {
    const own = join(this.#cacheDir, 'apt');
    for (const folder of ['lists/partial', 'cache/archives/partial'])
      await mkdir(join(own, folder), { recursive: true });
    this.#options = ['-o', `Dir::State::lists=${own}/lists`, '-o', `Dir::Cache=${own}/cache`];
    // apt would become the user _apt, who cannot write to a folder of ours.
    if (process.geteuid?.() === 0) this.#options.push('-o', 'APT::Sandbox::User=root');
  }

  async #run(program: string, args: readonly string[], cwd = this.#cacheDir) {
    const env = { ...this.#env, LC_ALL: 'C' };
    try {
      return await runProgram(program, [...(program === 'dpkg-deb' ? [] : this.#options), ...args], {
        cwd,
        env,
        timeoutMs: APT_TIMEOUT_MS,
        signal: this.#signal,
      });
    } catch (cause) {
      throw new Error(`${program} ${args[0]}: ${complaintOf(cause)}`, { cause });
    }
  }
}
