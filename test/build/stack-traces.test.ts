import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { type BuildOptions, build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';

/*
 * Goal: a stack trace names the file and the line of our source that failed, in either build.
 * Method: bundles as they are shipped, started without configuration, which fails; and their maps beside esbuild's own.
 */
interface Build {
  readonly common: BuildOptions;
  readonly outsideServices: readonly string[];
  bundleFiles(target: string): Promise<readonly { readonly path: string; readonly text: string }[]>;
  serviceTargetName(service: string, build: 'production' | 'harness'): string;
}
const root = cloneRoot();
const script = (name: string) => pathToFileURL(join(root, 'scripts', name)).href;
const { bundleFiles, common, outsideServices, serviceTargetName } = (await import(script('build.mjs'))) as Build;
const { ownSourceMap } = (await import(script('source-map.mjs'))) as { ownSourceMap(text: string): string };

let folder: string;
beforeAll(async () => {
  // Below the clone, where bundles find their packages, and as deep as dist/services, from where maps count.
  folder = await mkdtemp(join(root, 'node_modules', '.stack-traces-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const failedStart = (file: string) =>
  new Promise<string>((resolve) => {
    execFile(process.execPath, ['--enable-source-maps', file], { env: {} }, (_, log) => resolve(log));
  });

it.each([
  ['orders', 'harness'],
  ['stock', 'production'],
] as const)('the stack of an error in %s, a %s build, names lines of our sources', async (service, kind) => {
  const files = await bundleFiles(serviceTargetName(service, kind));
  for (const { path, text } of files) await writeFile(join(folder, basename(path)), text);
  const log = await failedStart(join(folder, `${service}.mjs`));
  const { err } = JSON.parse(log.split('\n')[0] as string) as { err: { stack: string } };
  const main = `services/${service}/src/main.ts`;
  const lines = (await readFile(join(root, main), 'utf8')).split('\n');
  const loads = lines.findIndex((line) => line.includes('loadConfig(process.env)')) + 1;
  expect(err.stack).toContain(join(root, `${main}:${loads}:`));
  expect(err.stack).toContain(join(root, 'kit/src/config.ts:'));
  expect(err.stack).not.toContain(`${service}.mjs`);
});

describe('the source map of a service', () => {
  let code: string;
  let whole: SourceMap;
  let own: SourceMap;
  beforeAll(async () => {
    const { outputFiles = [] } = await build({
      ...common,
      entryPoints: [join(root, 'services/catalog/src/main.ts')],
      outdir: join(root, 'dist/services'),
      format: 'esm',
      external: [...outsideServices, 'pg-native'],
    } as BuildOptions);
    const textOf = (end: string) => outputFiles.find(({ path }) => path.endsWith(end))?.text as string;
    code = textOf('.js');
    whole = new SourceMap(JSON.parse(textOf('.map')) as SourceMapPayload);
    own = new SourceMap(JSON.parse(ownSourceMap(textOf('.map'))) as SourceMapPayload);
  });

  it('says of our sources what the whole one says, and of libraries nothing', () => {
    const counts = { own: 0, other: 0 };
    const differing: string[] = [];
    for (const [line, text] of code.split('\n').entries()) {
      for (let column = 0; column < text.length; column += 5) {
        const { originalSource, originalLine, originalColumn } = entryAt(whole, line, column);
        const found = entryAt(own, line, column);
        const isOwn = originalSource !== undefined && !originalSource.includes('node_modules/');
        counts[isOwn ? 'own' : 'other'] += 1;
        const isRight = isOwn
          ? found.originalSource === originalSource &&
            found.originalLine === originalLine &&
            found.originalColumn === originalColumn
          : found.originalSource === undefined;
        if (!isRight) differing.push(`${line}:${column} ${originalSource}:${originalLine}`);
      }
    }
    expect(differing).toEqual([]);
    expect(Math.min(counts.own, counts.other)).toBeGreaterThan(1000);
  });
});

/** Nothing where no source is known. */
function entryAt(map: SourceMap, line: number, column: number) {
  return map.findEntry(line, column) as { originalSource?: string; originalLine?: number; originalColumn?: number };
}
