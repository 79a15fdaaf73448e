/*
 * Goal: Toxiproxy is built while npm installs, exactly where setup would build it afterwards. Method: the script with a Go that
 * says how it was called, a host for releases, and an empty cache.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { inspectionContext } from '../../cli/src/platform/component-context.ts';
import { cloneRoot, openProject } from '../../cli/src/platform/project.ts';
import { releaseFileFor } from '../../cli/src/providers/release/release.ts';
import { toxiproxyRelease } from '../../cli/src/providers/release/releases.ts';
import { toxiproxyProviders } from '../../cli/src/providers/toxiproxy.ts';
import { eventually } from '../e2e/support/eventually.ts';

let folder: string;
let cacheDir: string;
let target: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'early-toxiproxy-'));
  cacheDir = join(folder, 'cache/shopctl');
  target = join(cacheDir, `toxiproxy-server-${toxiproxyRelease.version}`, 'toxiproxy-server');
  await mkdir(join(folder, 'bin'));
});
afterEach(() => rm(folder, { recursive: true }));

/** Runs `first`, then downloads to its GOPATH and builds a program that says how it was called. */
const goProgram = (first: string) => `#!/bin/sh
${first}
case $1 in
  mod) mkdir -p "$GOPATH/sources"; echo "$4" >"$GOPATH/sources/module"; echo "{\\"Dir\\": \\"$GOPATH/sources\\"}" ;;
  build)
    options=
    while [ "$1" != -o ]; do options="$options $1"; shift; done
    { echo '#!/bin/sh'; echo "# $(cat module)$options $3 CGO_ENABLED=$CGO_ENABLED"; } >"$2" ;;
esac
`;

const put = (name: string, program: string) => writeFile(join(folder, 'bin', name), program, { mode: 0o755 });

function start(more: NodeJS.ProcessEnv = {}): ChildProcess {
  const env = {
    PATH: [join(folder, 'bin'), '/usr/bin', '/bin'].join(delimiter),
    XDG_CACHE_HOME: dirname(cacheDir),
    SHOPCTL_RELEASES_URL: 'http://127.0.0.1:1/',
    ...more,
  };
  return spawn(process.execPath, [join(cloneRoot(), 'scripts/early-toxiproxy.mjs')], { env, stdio: 'pipe' });
}

async function ended(child: ChildProcess): Promise<{ code: number; said: string }> {
  const said = text(child.stderr as NonNullable<typeof child.stderr>);
  const [code] = (await once(child, 'exit')) as [number];
  return { code, said: await said };
}

const filesOf = (path: string) => readdir(path).catch(() => [] as string[]);

it('builds the module that setup would build, where setup looks for it', async () => {
  await put('go', goProgram(''));
  expect(await ended(start())).toEqual({ code: 0, said: '' });
  const built = await readFile(target, 'utf8');
  expect(built).toMatch(/^# github.com\/Shopify\/toxiproxy\/v2@v2.12.0 build .* \.\/cmd\/server CGO_ENABLED=0$/m);
  expect((await stat(target)).mode & 0o777).toBe(0o755);
  expect(await filesOf(cacheDir)).toEqual([`toxiproxy-server-${toxiproxyRelease.version}`]);
  const env = { PATH: '/nowhere', XDG_CACHE_HOME: dirname(cacheDir) };
  const context = inspectionContext(openProject('shop', cloneRoot(), env), env);
  const ways = await Promise.all(toxiproxyProviders(context).map((way) => way.check()));
  expect(ways.find(({ kind }) => kind === 'cache')).toMatchObject({ available: true, detail: target });
  await rm(cacheDir, { recursive: true });
  await setupBuilds();
  expect(await readFile(target, 'utf8'), 'what setup builds').toBe(built);
});

async function setupBuilds(): Promise<void> {
  const env = { PATH: [join(folder, 'bin'), '/usr/bin', '/bin'].join(delimiter), XDG_CACHE_HOME: dirname(cacheDir) };
  const context = inspectionContext(openProject('shop', cloneRoot(), env), env);
  const way = toxiproxyProviders(context).find(({ kind }) => kind === 'go');
  await way?.install?.(() => undefined);
}

it.each([
  ['there is one at a URL', { SHOPCTL_TOXIPROXY_URL: 'http://127.0.0.1:8474' }, 'go'],
  ['there is one on the PATH', {}, 'toxiproxy-server'],
])('builds none where %s', async (_, env, program) => {
  await put('go', goProgram(''));
  await put(program, goProgram(''));
  expect(await ended(start(env))).toEqual({ code: 0, said: '' });
  expect(await filesOf(cacheDir)).toEqual([]);
});

it('builds none where its release can be downloaded', async () => {
  await put('go', goProgram(''));
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    const SHOPCTL_RELEASES_URL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
    expect(await ended(start({ SHOPCTL_RELEASES_URL }))).toEqual({ code: 0, said: '' });
  } finally {
    server.close();
  }
  expect(asked).toEqual([`HEAD /${toxiproxyRelease.folder}${releaseFileFor(toxiproxyRelease)?.name}`]);
  expect(await filesOf(cacheDir)).toEqual([]);
});

it('that fails leaves nothing, and says why setup builds it', async () => {
  await put('go', goProgram('if [ "$1" = build ]; then echo no space >&2; exit 2; fi'));
  expect(await ended(start())).toEqual({
    code: 1,
    said: expect.stringMatching(/^Toxiproxy is built later: .*no space/),
  });
  expect(await filesOf(cacheDir)).toEqual([]);
});

it('that is interrupted leaves nothing', async () => {
  await put('go', goProgram('if [ "$1" = build ]; then touch "$GOPATH/begun"; exec sleep 600; fi'));
  const child = start();
  const isBuilding = async () => {
    const drafts = await filesOf(cacheDir);
    return drafts.length === 1 && (await filesOf(join(cacheDir, drafts[0] as string, 'path'))).includes('begun');
  };
  await eventually('the build', { withinMs: 20_000 }, isBuilding);
  child.kill('SIGTERM');
  expect(await ended(child)).toEqual({ code: 1, said: '' });
  expect(await filesOf(cacheDir)).toEqual([]);
});
