import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { unless } from '../shared/unless.ts';
import type { ComponentContext, OnProgress } from './component.ts';
import { findOnPath } from './executables.ts';
import { available, installable, unavailable } from './provider-checks.ts';
import type { ToolSource } from './tool.ts';

type Context = Pick<ComponentContext, 'root' | 'env'>;

/**
 * OpenTelemetry's SDK and instrumentations, for `up --instrumentation stock`: the dependencies of the workspace
 * instrumentation/, which `npm start` does not install.
 */
export function instrumentationWays({ root, env }: Context): readonly ToolSource[] {
  if (root === undefined) return [];
  const place = join(root, 'node_modules');
  return [
    {
      kind: 'npm',
      async check() {
        const missing = await missingPackages(root);
        if (missing.length === 0) return available('npm', `OpenTelemetry's instrumentations in ${place}`);
        if ((await findOnPath('npm', env)) === undefined) return unavailable('npm', 'no npm on PATH');
        return installable('npm', `npm installs ${missing.join(', ')} and what they need (40 MB)`);
      },
      file: async () => place,
      install: (onProgress, signal) => install({ root, env }, onProgress, signal),
    },
  ];
}

/** The workspace's dependencies that are not installed in the version that it names. */
async function missingPackages(root: string): Promise<readonly string[]> {
  const { dependencies } = await readManifest(join(root, 'instrumentation'));
  const ofRegistry = Object.entries(dependencies ?? {}).filter(([name]) => !name.startsWith('@shop/'));
  const missing = await Promise.all(
    ofRegistry.map(async ([name, version]) => {
      const installed = await readManifest(join(root, 'node_modules', name)).catch(unless('ENOENT'));
      return installed?.version === version ? [] : [`${name} ${version}`];
    }),
  );
  return missing.flat();
}

interface Manifest {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
}

async function readManifest(folder: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;
}

/** Adds what package-lock.json says to node_modules, with its checksums, without running scripts of packages. */
async function install({ root, env }: Required<Context>, onProgress: OnProgress, signal?: AbortSignal): Promise<void> {
  onProgress('npm install');
  // npm chooses packages for the Node that it runs under: for this one.
  const path = `${dirname(process.execPath)}${delimiter}${env.PATH ?? ''}`;
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  const args = ['install', '--workspace', 'instrumentation', '--no-save', '--ignore-scripts', ...quiet];
  await promisify(execFile)('npm', args, { cwd: root, env: { ...env, PATH: path }, ...(signal && { signal }) });
}
