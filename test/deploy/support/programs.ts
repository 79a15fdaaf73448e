import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findOnPath, isExecutable } from '../../../cli/src/providers/executables.ts';
import { buildGoProgram, type GoProgram } from '../../../cli/src/providers/go-build.ts';
import { holdInstallation } from '../../../cli/src/providers/installation.ts';
import { sharedCacheDir } from '../../../cli/src/providers/testing.ts';

/** A program ready to be run, or why there is none here. */
export type Found = { readonly command: readonly [string, ...string[]] } | { readonly missing: string };

const programs = {
  kustomize: {
    title: 'kustomize',
    modulePath: 'sigs.k8s.io/kustomize/kustomize/v5',
    version: 'v5.8.3',
    mainPackage: '.',
  },
  'kube-score': {
    title: 'kube-score',
    modulePath: 'github.com/zegl/kube-score',
    version: 'v1.20.0',
    mainPackage: 'cmd/kube-score',
  },
} as const satisfies Record<string, Omit<GoProgram, 'target'>>;

/** On PATH, else in the cache, else built with Go into the cache: about a minute on two cores, once. */
async function findProgram(name: keyof typeof programs): Promise<Found> {
  const onPath = await findOnPath(name, process.env);
  if (onPath !== undefined) return { command: [onPath] };
  const cacheDir = sharedCacheDir();
  const target = join(cacheDir, `${name}-${programs[name].version}`);
  if (await isExecutable(target)) return { command: [target] };
  if ((await findOnPath('go', process.env)) === undefined) return { missing: `neither ${name} nor Go is installed` };
  const onProgress = (message: string) => console.warn(message);
  await using _ = await holdInstallation(name, { cacheDir, onProgress });
  if (!(await isExecutable(target)))
    await buildGoProgram({ ...programs[name], target }, { cacheDir, env: process.env }, onProgress);
  return { command: [target] };
}

/** `kustomize build`, which kubectl has as well. */
export async function findKustomize(): Promise<Found> {
  if ((await findOnPath('kustomize', process.env)) === undefined) {
    const kubectl = await findOnPath('kubectl', process.env);
    if (kubectl !== undefined) return { command: [kubectl, 'kustomize'] };
  }
  const found = await findProgram('kustomize');
  return 'missing' in found ? found : { command: [...found.command, 'build'] };
}

/** kube-score, the policy linter. */
export function findLinter(): Promise<Found> {
  return findProgram('kube-score');
}

/** Runs a program and resolves with what it printed. Rejects with its complaint when it ends with another code than 0. */
export async function runProgram(
  [file, ...first]: readonly [string, ...string[]],
  args: readonly string[],
): Promise<string> {
  const { stdout } = await promisify(execFile)(file, [...first, ...args], { maxBuffer: 32 << 20 });
  return stdout;
}
