import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { serviceNames } from '../topology/services.ts';
import { dockerfileOf, type ImageSubject } from './images.ts';

/** What the Dockerfile of an image copies into its build, relative to the clone, in a stable order. */
export async function sourceFiles(root: string, subject: ImageSubject): Promise<readonly string[]> {
  const manifests = ['cli', 'instrumentation', ...serviceNames.map((name) => `services/${name}`)].map(
    (folder) => `${folder}/package.json`,
  );
  const copied =
    subject === 'migrations' ? ['cli/src', 'migrations'] : ['proto', 'cli/src/topology', `services/${subject}`];
  const folders = await Promise.all(['kit', 'scripts', ...copied].map((folder) => filesBelow(root, folder)));
  const own = [dockerfileOf(subject), '.dockerignore', 'package.json', 'package-lock.json'];
  const files = [...own, ...manifests, ...folders.flat()];
  return [...new Set(files)].sort();
}

/**
 * Changes with the name and content of any of the files. The version of another service is left out: npm reads its manifest, and
 * nothing of it is in the image.
 */
export async function digestOf(root: string, subject: ImageSubject, files: readonly string[]): Promise<string> {
  const digest = createHash('sha256');
  for (const file of files) {
    const text = await readFile(join(root, file));
    const content = isOfAnother(file, subject) ? withoutVersion(text.toString('utf8')) : text;
    digest.update(`${file}\0${content.length}\0`).update(content);
  }
  return digest.digest('hex').slice(0, 16);
}

function isOfAnother(file: string, subject: ImageSubject): boolean {
  return file !== `services/${subject}/package.json` && /^services\/[^/]+\/package\.json$/.test(file);
}

function withoutVersion(manifest: string): string {
  const { version: _, ...rest } = JSON.parse(manifest) as { version?: string };
  return JSON.stringify(rest);
}

async function filesBelow(root: string, folder: string): Promise<readonly string[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name).slice(root.length + 1))
    .filter((file) => !file.includes('node_modules/') && !file.endsWith('.test.ts'));
}
