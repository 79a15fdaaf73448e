import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type BuildOptions, build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';

/*
 * Goal: a stack trace names the file and the line of our source that failed, in either build.
 * Method: bundles as they are shipped, started without configuration, which fails; their maps beside esbuild's own; and small
 * programs with the same options, whose error no one handles.
 */
interface Build {
  readonly common: BuildOptions;
  readonly cliOptions: BuildOptions;
  readonly outsideServices: readonly string[];
  bundleFiles(target: string): Promise<readonly { readonly path: string; readonly text: string }[]>;
  serviceTargetName(service: string, build: 'production' | 'harness'): string;
}
const root = cloneRoot();
const script = (name: string) => pathToFileURL(join(root, 'scripts', name)).href;
const { bundleFiles, cliOptions, common, outsideServices, serviceTargetName } = (await import(
  script('build.mjs')
)) as Build;
const { ownSourceMap } = (await import(script('source-map.mjs'))) as { ownSourceMap(text: string): string };

let folder: string;
beforeAll(async () => {
  // Below the clone, where bundles find their packages, and as deep as dist/services, from where maps count.
  folder = await mkdtemp(join(root, 'node_modules', '.stack-traces-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const failedStart = (file: string) =>
  new Promise<string>((resolve) => {
    execFile(process.execPath, [file], { env: {} }, (_, log) => resolve(log));
  });

it.each([
  ['orders', 'harness'],
  ['stock', 'production'],
] as const)('the stack of an error in %s, a %s build, names lines of our sources', async (service, kind) => {
  const files = await bundleFiles(serviceTargetName(service, kind));
  for (const { path, text } of files) await writeFile(join(folder, basename(path)), text);
  const log = await failedStart(join(folder, `${service}.cjs`));
  const { err } = JSON.parse(log.split('\n')[0] as string) as { err: { stack: string } };
  const main = `services/${service}/src/main.ts`;
  const lines = (await readFile(join(root, main), 'utf8')).split('\n');
  const loads = lines.findIndex((line) => line.includes('loadConfig(process.env)')) + 1;
  expect(err.stack).toContain(join(root, `${main}:${loads}:`));
  expect(err.stack).toContain(join(root, 'kit/src/config.ts:'));
  expect(err.stack).not.toContain(`${service}.cjs`);
});

describe('an error that no one handles', () => {
  const code = `import { access } from 'node:fs/promises';
    const filler = ${JSON.stringify('x'.repeat(10_000))};
    function fail(): never { throw new Error(filler.length + ' letters'); }
    await access('/').then(`;

  let sources: string;
  beforeAll(async () => {
    // Not below node_modules: what is there gets no file put before it.
    sources = await mkdtemp(join(tmpdir(), 'stack-traces-'));
  });
  afterAll(() => rm(sources, { recursive: true, force: true }));

  async function failedProgram(name: string, rest: string, without?: '.map') {
    const source = join(sources, `${name}.ts`);
    await writeFile(source, `${code}${rest});`);
    const options = { ...common, ...cliOptions, minifyWhitespace: true, outdir: folder, write: true };
    await build({ ...options, entryPoints: [source] } as BuildOptions);
    const bundle = join(folder, `${name}.mjs`);
    if (without) await rm(`${bundle}${without}`);
    const ended = await promisify(execFile)(process.execPath, [bundle], { env: {} }).catch((error) => error);
    return { source, bundle, ...(ended as { readonly code: number; readonly stderr: string }) };
  }

  it('is printed with lines of our sources, without the line of the bundle, and ends the program', async () => {
    const { code, source, stderr } = await failedProgram('thrown', '() => fail()');
    expect(code).toBe(1);
    expect(stderr).toContain('Error: 10000 letters\n');
    expect(stderr).toContain(`${source}:3:`);
    expect(stderr).toContain(`${source}:4:`);
    expect(stderr).not.toContain('xxx');
  });

  it('is printed as Node describes it', async () => {
    const { source, stderr } = await failedProgram('of-node', '() => access(1 as unknown as string)');
    expect(stderr).toContain('TypeError [ERR_INVALID_ARG_TYPE]: The "path" argument must be');
    expect(stderr).toContain(`${source}:4:`);
  });

  it('is printed with the line of the bundle where the map is gone', async () => {
    const { code, bundle, stderr } = await failedProgram('unmapped', '() => fail()', '.map');
    expect(code).toBe(1);
    expect(stderr).toContain('Error: 10000 letters\n');
    expect(stderr).toContain(`${pathToFileURL(bundle).href}:`);
  });
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
      format: 'cjs',
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
