/** On a small repository: a service, the kit and a build script. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { bundleIn, isModule } from '../platform/service-bundle.ts';
import { buildRelease, keepBuilt } from './release-build.ts';
import { resolveRelease } from './release-source.ts';

const BUILD = `import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
export async function buildOnly(names) {
  mkdirSync('dist/services', { recursive: true });
  writeFileSync('dist/telemetry.cjs', '');
  for (const name of names.slice(1)) writeFileSync('dist/services/' + name + '.cjs', readFileSync('services/' + name + '/src/main.ts'));
}`;
const files = {
  'package.json': '{}',
  'package-lock.json': '{}',
  'scripts/build.mjs': BUILD,
  'kit/src/index.ts': '',
  'proto/stock.proto': '',
  'services/orders/package.json': '{"version":"1.2.0"}',
  'services/orders/src/main.ts': 'one',
};

let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'shopctl-test-'));
  for (const [file, text] of Object.entries(files)) await write(file, text);
  await mkdir(join(root, 'node_modules'));
});
afterEach(() => rm(root, { recursive: true }));

async function write(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(root, file)), { recursive: true });
  await writeFile(join(root, file), text);
}

function git(...args: readonly string[]): string {
  const identity = ['-c', 'user.name=test', '-c', 'user.email=test@example.com'];
  return execFileSync('git', [...identity, ...args], { cwd: root, encoding: 'utf8' }).trim();
}

function commitAll(): string {
  git('init', '-q');
  git('add', '--', ...Object.keys(files));
  git('commit', '-qm', 'sources');
  return git('rev-parse', 'HEAD');
}

const never = new AbortController().signal;

describe('a release', () => {
  it('of a commit has its version, whatever the sources are now', async () => {
    const commit = commitAll();
    await write('services/orders/src/main.ts', 'two');
    const source = await resolveRelease({ service: 'orders', from: 'HEAD' }, root);
    expect(source).toMatchObject({ version: `1.2.0-g${commit.slice(0, 8)}`, description: 'HEAD' });
    const release = await buildRelease(source, root, never);
    expect(release).toMatchObject({ version: source.version, folder: `dist/releases/orders/${source.version}` });
    expect(execFileSync('cat', [join(root, release.folder, 'orders.cjs')], { encoding: 'utf8' })).toBe('one');
  });

  it('of an early commit is the ES module that its build script makes, whatever the clone has built', async () => {
    await write('scripts/build.mjs', BUILD.replace("'.cjs'", "'.mjs'"));
    commitAll();
    await write('dist/services/orders.cjs', 'built');
    const source = await resolveRelease({ service: 'orders', from: 'HEAD' }, root);
    const { folder } = await buildRelease(source, root, never);
    const bundle = bundleIn(join(root, folder), 'orders');
    expect([basename(bundle), await readFile(bundle, 'utf8')]).toEqual(['orders.mjs', 'one']);
    expect(isModule(bundle)).toBe(true);
  });

  it('of the sources changes with them, and is built once', async () => {
    const first = await resolveRelease({ service: 'orders' }, root);
    expect(first.version).toMatch(/^1\.2\.0-d[0-9a-f]{8}$/);
    const built = await buildRelease(first, root, never);
    await write('scripts/build.mjs', 'throw new Error("not again")');
    expect(await buildRelease(first, root, never)).toEqual(built);
    expect((await resolveRelease({ service: 'orders' }, root)).version).not.toBe(first.version);
  });

  it('with a bug or a variable has the same bundles under another version', async () => {
    const bug = await resolveRelease({ service: 'orders', seedBug: ['retry-declined'] }, root);
    const variable = await resolveRelease({ service: 'orders', env: { LOG_LEVEL: 'debug' } }, root);
    expect(bug.version).toMatch(/\+bug\.retry-declined$/);
    expect(variable.version).toMatch(/\+env\.[0-9a-f]{8}$/);
    const [one, other] = [await buildRelease(bug, root, never), await buildRelease(variable, root, never)];
    expect(one).toMatchObject({ folder: other.folder, digest: other.digest, seededBugs: ['retry-declined'] });
    expect(other).toMatchObject({ env: { LOG_LEVEL: 'debug' }, seededBugs: [] });
  });

  it('of what the clone has built stays as it is', async () => {
    await write('dist/telemetry.cjs', '');
    await write('dist/services/orders.cjs', 'built');
    const kept = await keepBuilt('orders', root, '1.2.0');
    await write('dist/services/orders.cjs', 'built again');
    expect(execFileSync('cat', [join(root, kept.folder, 'orders.cjs')], { encoding: 'utf8' })).toBe('built');
    expect((await keepBuilt('orders', root, '1.2.0')).version).not.toBe(kept.version);
  });

  it('that does not compile says why, and leaves nothing', async () => {
    await write('scripts/build.mjs', 'export const buildOnly = () => Promise.reject(new Error("line 7"))');
    const source = await resolveRelease({ service: 'orders' }, root);
    await expect(buildRelease(source, root, never)).rejects.toMatchObject({
      code: 'build_failed',
      why: expect.stringContaining('line 7'),
    });
  });
});

it.each([
  ['a service that is not there', { service: 'ordres' }, 'unknown_service'],
  ['a commit that is not there', { service: 'orders', from: 'v9.9' }, 'unknown_ref'],
  ['an option in place of a commit', { service: 'orders', from: '--all' }, 'unknown_ref'],
  ['a commit and a folder', { service: 'orders', from: 'HEAD', dir: '.' }, 'invalid_release'],
  ['an image and a folder', { service: 'orders', image: 'shop/orders:dev', dir: '.' }, 'invalid_release'],
  ['a folder without sources', { service: 'orders', dir: tmpdir() }, 'invalid_release'],
  ['a bug of another service', { service: 'orders', seedBug: ['no-inbox'] }, 'invalid_release'],
  ['a variable of the platform', { service: 'orders', env: { PORT: '1' } }, 'invalid_release'],
  ['a name with a digit first', { service: 'orders', env: { '1A': 'x' } }, 'invalid_release'],
])('no release is made of %s', async (_what, request, code) => {
  commitAll();
  await expect(resolveRelease(request, root)).rejects.toMatchObject({ code, exitCode: 2 });
});

it('no release is made of a commit without the service', async () => {
  commitAll();
  await expect(resolveRelease({ service: 'payments', from: 'HEAD' }, root)).rejects.toMatchObject({
    code: 'invalid_release',
  });
});
