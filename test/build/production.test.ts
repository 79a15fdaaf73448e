import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { failpoints } from '@shop/kit/failpoint-names.ts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cloneRoot } from '../../cli/src/platform/project.ts';
import { serviceNames } from '../../cli/src/topology/services.ts';
import { harnessCodeIn, harnessCodeOf } from '../support/harness-code.ts';

/*
 * Goal: nothing by which tests make a service misbehave is shipped (decision 0052).
 * Method: the bundles that images hold, searched for the names of all failpoints and seeded bugs and for the code that reads
 * them. The same search of the harness builds finds each of them, so that it cannot pass because it looks for the wrong names.
 */
interface Build {
  buildIfStale(wanted: { readonly names: readonly string[] }): Promise<unknown>;
  bundleTexts(targets: readonly string[]): Promise<readonly string[]>;
  serviceBundle(service: string, build: 'harness'): string;
  serviceTargetName(service: string, build: 'production'): string;
}
const { buildIfStale, bundleTexts, serviceBundle, serviceTargetName } = (await import(
  pathToFileURL(join(cloneRoot(), 'scripts/build.mjs')).href
)) as Build;

const production = (service: string) => serviceTargetName(service, 'production');
/** What images hold beside services: its target and its bundle. */
const others = { telemetry: 'dist/telemetry.cjs', migrate: 'dist/migrate.mjs' };
/** Services that have harness code. */
const withHarness = Object.keys(failpoints);

let built: ReadonlyMap<string, string>;
beforeAll(async () => {
  // Together: what services share is read once. What platforms run of this clone is there already.
  const targets = serviceNames.map(production);
  const texts = await bundleTexts(targets);
  await buildIfStale({ names: [...withHarness, ...Object.keys(others)] });
  const bundles = { ...Object.fromEntries(withHarness.map((one) => [one, serviceBundle(one, 'harness')])), ...others };
  const read = Object.entries(bundles).map(
    async ([target, file]) => [target, await readFile(join(cloneRoot(), file), 'utf8')] as const,
  );
  built = new Map([
    ...targets.map((target, index) => [target, texts[index] ?? ''] as const),
    ...(await Promise.all(read)),
  ]);
});

function bundleText(target: string): string {
  const text = built.get(target);
  if (text === undefined) throw new Error(`${target} was not built`);
  return text;
}

const variables = ['FAILPOINT_DIR', 'SHOP_SEEDED_BUGS'];

describe.each(serviceNames)('%s', (service) => {
  it('knows the version of its package.json', async () => {
    const manifest = join(cloneRoot(), 'services', service, 'package.json');
    const { version } = JSON.parse(await readFile(manifest, 'utf8')) as { version: string };
    const text = bundleText(production(service));
    expect(text).not.toContain('SERVICE_VERSION');
    expect(text).toContain(`builtVersion="${version}"`);
  });

  it('has no failpoint and no seeded bug in a production build', () => {
    const text = bundleText(production(service));
    expect(harnessCodeIn(text)).toEqual([]);
    // Each stands in the sentence that refuses it, and nowhere else.
    for (const variable of variables) expect(text.split(variable), variable).toHaveLength(2);
  });
});

describe.each(withHarness)('%s', (service) => {
  it('has all of them in a harness build', () => {
    const text = bundleText(service);
    expect(harnessCodeIn(text)).toEqual(expect.arrayContaining([...harnessCodeOf(service)]));
  });
});

it.each(Object.keys(others))('%s, which images hold too, has none of it', (target) => {
  expect(harnessCodeIn(bundleText(target))).toEqual([]);
});

describe('a service in a production build', () => {
  let folder: string;
  let file: string;
  beforeAll(async () => {
    // Below the clone, where it finds its packages.
    folder = await mkdtemp(join(cloneRoot(), 'node_modules', '.production-'));
    file = join(folder, 'catalog.cjs');
    await writeFile(file, bundleText(production('catalog')));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const start = (env: NodeJS.ProcessEnv) =>
    new Promise<{ code: unknown; log: string }>((resolve) => {
      execFile(process.execPath, [file], { env }, (error, log) => resolve({ code: error?.code ?? 0, log }));
    });

  it.each(variables)('refuses to start with %s', async (variable) => {
    const { code, log } = await start({ [variable]: 'any' });
    expect(code, log).toBe(1);
    expect(log).toContain(`${variable} must not be set: this is a production build`);
  });

  it('starts without them, as far as its configuration goes', async () => {
    const { code, log } = await start({});
    expect(code, log).toBe(1);
    expect(log).toContain('DATABASE_URL');
    expect(log).not.toContain('production build');
  });
});
