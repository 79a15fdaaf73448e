/** A copy of the working tree in a separate folder, with the installed packages, for tests that edit it. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, cp, mkdir, readdir, readFile, symlink, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { promisify } from 'node:util';
import { cloneRoot } from '../../cli/src/platform/project.ts';

const execute = promisify(execFile);

/** Every file that is committed or would be, as the first commit of a separate repository. */
export async function copyTree(copy: string): Promise<void> {
  const git = (...args: readonly string[]) => execute('git', args, { cwd: copy, maxBuffer: 1 << 26 });
  const listed = await execute('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: cloneRoot(),
    maxBuffer: 1 << 26,
  });
  const { stdout: deleted } = await execute('git', ['ls-files', '-z', '--deleted'], { cwd: cloneRoot() });
  const missing = new Set(deleted.split('\0'));
  const files = listed.stdout.split('\0').filter((file) => file !== '' && !missing.has(file));
  for (const file of files) {
    await mkdir(join(copy, dirname(file)), { recursive: true });
    await cp(join(cloneRoot(), file), join(copy, file), { verbatimSymlinks: true });
  }
  await git('init', '--quiet');
  await git('add', '--all');
  await git('-c', 'user.name=test', '-c', 'user.email=test@localhost', 'commit', '--quiet', '--message', 'copy');
}

/** What is installed here, but for our own packages, which are those of the copy. */
export async function linkPackages(copy: string): Promise<void> {
  const installed = join(cloneRoot(), 'node_modules');
  const modules = join(copy, 'node_modules');
  await mkdir(join(modules, '@shop'), { recursive: true });
  const ours = new Set(['@shop', 'shopctl', '.cache', '.vite']);
  for (const name of (await readdir(installed)).filter((one) => !ours.has(one)))
    await symlink(join(installed, name), join(modules, name));
  const services = (await readdir(join(copy, 'services'), { withFileTypes: true })).filter((one) => one.isDirectory());
  for (const workspace of ['kit', ...services.map(({ name }) => `services/${name}`)])
    await symlink(join(copy, workspace), join(modules, '@shop', basename(workspace)));
  for (const workspace of ['kit', 'cli', ...services.map(({ name }) => `services/${name}`)]) {
    const own = join(cloneRoot(), workspace, 'node_modules');
    const exists = await readdir(own).catch(() => undefined);
    if (exists !== undefined) await symlink(own, join(copy, workspace, 'node_modules'));
  }
  await appendFile(join(copy, '.git/info/exclude'), 'node_modules\n');
}

/**
 * After `linkPackages`: gives the copy what the TypeScript compiler knows of this clone. It then checks what is edited there and
 * not everything, which takes 4 s of CPU instead of 20. What has other contents than it knows, it checks again.
 */
export async function copyBuildInfo(copy: string): Promise<void> {
  const cache = 'node_modules/.cache';
  const file = join(cache, 'tsconfig.tsbuildinfo');
  if (!existsSync(join(cloneRoot(), file))) return;
  const text = await readFile(join(cloneRoot(), file), 'utf8');
  // Paths are relative to the folder of this file; those of packages lead to where the links of the copy do.
  const installed = relative(join(copy, cache), join(cloneRoot(), 'node_modules'));
  await mkdir(join(copy, cache));
  await writeFile(join(copy, file), text.replaceAll(/"\.\.\/(?!\.\.\/)/g, `"${installed}/`));
}

/** After `copyTree`: gives the copy the bundles that each clone has, as if they had been built of its sources. */
export async function copyBundles(copy: string): Promise<void> {
  const dist = join(copy, 'dist');
  const isOfAll = (path: string) => !/\/dist\/(instrumented|\.stamps\/.*-instrumented)$/.test(path);
  await cp(join(cloneRoot(), 'dist'), dist, { recursive: true, filter: isOfAll });
  const now = new Date();
  for (const target of await readdir(join(dist, '.stamps'))) await utimes(join(dist, '.stamps', target), now, now);
}
