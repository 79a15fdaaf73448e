import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import type { Manifest } from './manifest.ts';
import { findKustomize, runProgram } from './programs.ts';

const root = new URL('../../../', import.meta.url).pathname;
const kustomize = await findKustomize();

/** Why nothing can be rendered here; undefined where it can. Said once, because the tests it skips do not say it. */
export const cannotRender = 'missing' in kustomize ? `${kustomize.missing}: the manifests are not checked` : undefined;
if (cannotRender !== undefined) console.warn(cannotRender);

/** Everything that is applied separately, as a path in deploy/. */
export const applied: readonly string[] = globSync('overlays/**/kustomization.yaml', { cwd: join(root, 'deploy') })
  .map((file) => dirname(file))
  .filter((folder) => !/\/(release|canary)$/.test(folder))
  .toSorted();

/** The text that `kubectl apply -k deploy/FOLDER` would send. */
export async function renderText(folder: string): Promise<string> {
  if ('missing' in kustomize) throw new Error(kustomize.missing);
  return runProgram(kustomize.command, [join(root, 'deploy', folder)]);
}

/** The same, parsed. Throws for a document that is not valid YAML. */
export async function render(folder: string): Promise<readonly Manifest[]> {
  return parseAllDocuments(await renderText(folder)).map((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw error;
    return document.toJS() as Manifest;
  });
}
