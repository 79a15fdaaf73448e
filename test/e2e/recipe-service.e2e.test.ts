/**
 * Goal: a service is added by the recipe of CONTRIBUTING.md and by nothing else (decision 0058).
 * Method: a copy of the working tree in a separate folder, with the installed packages. It has a contributor's edits,
 * the commands of the recipe, and then the checks that go by the list of services.
 */
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { findCompiler, typeErrors } from '../../cli/src/develop/type-errors.ts';
import { copyBuildInfo, copyBundles, copyTree, linkPackages } from '../support/clone-copy.ts';
import { additions, newFiles } from './support/reviews-service.ts';

const execute = promisify(execFile);
const LIMIT_MS = 240_000;
/** Changed in what there was: by hand, and by commands, which write seven of them. */
const MAX_EDITS = 9;
const MAX_FILES = 13;

let copy: string;
let changed: readonly string[];

/** Rejects with what the program printed. */
const node = (...args: readonly string[]) =>
  execute(process.execPath, args, { cwd: copy, maxBuffer: 1 << 26 }).catch(({ stdout, stderr, message }) => {
    throw new Error(`${message}\n${stdout}\n${stderr}`);
  });
const git = (...args: readonly string[]) => execute('git', args, { cwd: copy, maxBuffer: 1 << 26 });
const vitest = (...args: readonly string[]) =>
  node('node_modules/vitest/vitest.mjs', 'run', '--root', copy, '--project', 'units*', ...args);

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'shop-recipe-'));
  await copyTree(copy);
  await addService();
  await linkPackages(copy);
  await copyBuildInfo(copy);
  // Runs their tests, too: what they check beside the text of a file fails here.
  await vitest('test/generated', '--update');
  const { stdout } = await git('status', '--porcelain', '--untracked-files=all');
  changed = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.slice(3));
}, LIMIT_MS);

afterAll(() => rm(copy, { recursive: true, force: true }));

it('touches thirteen files, and no other than those that the recipe names', async () => {
  const recipe = await readFile(join(copy, 'CONTRIBUTING.md'), 'utf8');
  const edited = changed.filter((file) => !(file in newFiles));
  expect(changed).toEqual(expect.arrayContaining(Object.keys(newFiles)));
  expect(edited.filter((file) => !recipe.includes(`\`${file}\``))).toEqual([]);
  expect(edited.length, edited.join(', ')).toBeLessThanOrEqual(MAX_EDITS);
  expect(changed.length, changed.join(', ')).toBeLessThanOrEqual(MAX_FILES);
});

it('compiles', { timeout: LIMIT_MS }, async () => {
  const compiler = findCompiler(copy);
  if (compiler === undefined) throw new Error('TypeScript is not installed');
  expect(await typeErrors(compiler, copy, AbortSignal.any([]))).toEqual([]);
});

it('is bundled, and starts', { timeout: LIMIT_MS }, async () => {
  // As `npm run build` does it; the others are as they were.
  await copyBundles(copy);
  await node('--eval', "import('./scripts/build.mjs').then(({ buildOnly }) => buildOnly(['reviews']))");
  const started = execute(process.execPath, ['dist/services/reviews.cjs'], { cwd: copy, env: {} });
  await expect(started).rejects.toMatchObject({ stdout: expect.stringContaining('CATALOG_URLS') });
});

it(
  'has migrations that the lint accepts, a plan with its instance and proxies, and an image',
  { timeout: LIMIT_MS },
  () =>
    vitest(
      'test/migrations/lint.test.ts',
      'cli/src/platform/shop-planner.test.ts',
      'cli/src/compose',
      'cli/src/images/dockerfiles.test.ts',
      'test/build/production.test.ts',
    ),
);

it('is in compose.yaml, behind its migrations, with the address of the catalog', async () => {
  const { services } = parse(await readFile(join(copy, 'compose.yaml'), 'utf8'));
  expect(services['reviews-migrations']).toMatchObject({ command: ['reviews'] });
  expect(services.reviews).toMatchObject({
    build: { args: { SERVICE: 'reviews' } },
    environment: { CATALOG_URLS: 'http://catalog:8080', DATABASE_URL: expect.stringContaining('reviews') },
    depends_on: { 'reviews-migrations': { condition: 'service_completed_successfully' } },
  });
});

async function addService(): Promise<void> {
  for (const [file, text] of Object.entries(newFiles)) {
    await mkdir(join(copy, dirname(file)), { recursive: true });
    await writeFile(join(copy, file), text);
  }
  for (const { file, after, line } of additions) {
    const text = await readFile(join(copy, file), 'utf8');
    if (!after.test(text)) throw new Error(`${file}: no line ${after}`);
    await writeFile(
      join(copy, file),
      text.replace(after, (found) => `${found}\n${line}`),
    );
  }
  // It asks for packages that are locked already, so that npm needs no registry.
  await execute('npm', ['install', '--package-lock-only', '--ignore-scripts', '--offline', '--no-audit', '--no-fund'], {
    cwd: copy,
  });
}
